// The runner of the tests: its last line and its exit code say what passed, failed and broke off.

import { execFile } from 'node:child_process'
import { existsSync, statSync, utimesSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { until } from '../helpers/deadline.ts'
import { buildIfStale } from './building.mjs'
import { Group } from './processes.mjs'

const RUNNER = fileURLToPath(new URL('run.mjs', import.meta.url))
const LOADER = new URL('register.mjs', import.meta.url).href
const GROUP = fileURLToPath(new URL('group.mjs', import.meta.url))
const TIME = new URL('../../src/base/time.ts', import.meta.url).href
const SLEEPER = `import { spawn } from 'node:child_process'
  import { writeFileSync } from 'node:fs'
  const { pid } = spawn('sleep', ['600'], { stdio: 'inherit' })
  writeFileSync(import.meta.filename + '.pid', String(pid))\n`
const folder = t.testdir({
  'passes.ts': 'const counts: string = "# { total: 5, pass: 3, skip: 2 }"\nconsole.log(counts)',
  'fails.ts': `console.log('not ok 1 - two is three\\n  diff: 1\\n# { total: 3, pass: 1, fail: 2 }')
    process.exit(1)`,
  'differs.ts': `const lines = Array.from({ length: 30 }, (_, index) => '    line ' + index)
    console.log(['not ok 1 - is two', '  ---', ...lines, '  diff: 1', '  ...', 'ok 2 - is three'].join('\\n'))
    console.log('# { total: 2, pass: 1, fail: 1 }')`,
  'breaks-off.ts': "console.log('ok 1')\nprocess.kill(process.pid, 'SIGKILL')\nsetInterval(() => {}, 1000)",
  'ends-early.ts': "console.log('ok 1')",
  'throws-late.ts': "console.log('# { total: 7, pass: 7 }')\nsetImmediate(() => { throw new Error('late') })",
  'leaves.ts': `${SLEEPER}console.log('# { total: 1, pass: 1 }')\nprocess.exit()`,
  'hangs.ts': `${SLEEPER}setInterval(() => {}, 1000)`,
  'unsteady.ts': `import { existsSync, writeFileSync } from 'node:fs'
    const isSecond = existsSync(import.meta.filename + '.ran')
    writeFileSync(import.meta.filename + '.ran', '')
    console.log(isSecond ? '# { total: 2, pass: 2 }' : 'not ok 1 - late\\n# { total: 2, pass: 1, fail: 1 }')
    process.exit(isSecond ? 0 : 1)`,
  'first.test.ts': `import t from 'tap'
    import { replaceTime } from '${TIME}'
    replaceTime({ now: () => 1 })
    const shared = {}
    Object.assign(globalThis, { shared })
    t.teardown(() => { shared.isClosed = true })
    t.beforeEach(() => { shared.starts = (shared.starts ?? 0) + 1 })
    t.test('takes a while', async (t) => {
      await new Promise((resolve) => setTimeout(resolve, 200))
      t.equal(shared.isClosed, undefined)
      t.equal(shared.starts, 1)
    })`,
  'second.test.ts': `import t from 'tap'
    import { clock } from '${TIME}'
    const { shared } = globalThis
    t.ok(clock.now() > 1)
    t.ok(shared.isClosed)
    t.test('follows', async (t) => {
      t.equal(shared.starts, process.env.STARTS === undefined ? 1 : 2)
    })`,
  'ends.test.ts': `import t from 'tap'
    t.test('a part', async (t) => {
      t.fail('one')
      t.fail('two')
      process.exit(1)
    })`,
  'empty.test.ts': "import t from 'tap'\nt.comment('no test')",
  'plain.test.ts': 'export {}',
  'skipped.test.ts': "import t from 'tap'\nt.test('a part', { skip: 'no server' }, () => {})",
  'late.test.ts': `import t from 'tap'
    t.pass()
    setTimeout(() => { throw new Error('too late') }, 50)`,
  'dies.test.ts': `import t from 'tap'
    t.pass()
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => {})`,
  'fails.test.ts': `import t from 'tap'
    t.test('a part', async (t) => {
      t.pass('one')
      t.fail('two')
    })`,
  'odd-message.test.ts': `import t from 'tap'
    t.test('odd', async (t) => {
      t.ok(true, 'a\\u2028b \\\\ #')
      t.ok(false, 'c\\u2029d')
    })`,
  'uncaught.test.ts': `import t from 'tap'
    const pause = async () => await new Promise((resolve) => setTimeout(resolve, 200))
    t.test('listens itself', async (t) => {
      const errors = []
      const listen = (error) => { errors.push(error.message) }
      process.on('uncaughtException', listen)
      process.on('unhandledRejection', listen)
      setTimeout(() => { throw new Error('one') })
      void Promise.reject(new Error('two'))
      await pause()
      process.off('uncaughtException', listen)
      process.off('unhandledRejection', listen)
      t.strictSame(errors.sort(), ['one', 'two'])
    })
    t.test('throws in a timer', async () => {
      setTimeout(() => { throw new Error('thrown') })
      await pause()
    })
    t.test('leaves a rejection', async (t) => {
      await t.test('inside', async () => {
        void Promise.reject(new Error('rejected'))
        await pause()
      })
      t.pass()
    })`
})

interface Ran { readonly exitCode: number, readonly output: string }

async function start (
  args: readonly string[], environment: { readonly [variable: string]: string } = {}
): Promise<Ran> {
  return await new Promise((resolve) => {
    const env = { ...process.env, ...environment }
    const child = execFile(process.execPath, args, { env }, (_, output) => {
      resolve({ exitCode: child.exitCode ?? -1, output })
    })
  })
}

const toPaths = (files: readonly string[]) => files.map((file) => join(folder, file))
const run = async (...files: readonly string[]) => await start([RUNNER, ...toPaths(files)])

t.test('counts what passed', async (t) => {
  const { exitCode, output } = await run('passes.ts')
  t.match(output, /^ok {5}\S+passes\.ts: 3 passed, 0 failed, 2 skipped in [\d.]+ s, [\d.]+ s of CPU$/m)
  t.match(output, /\n3 passed, 0 failed\n$/)
  t.equal(exitCode, 0)
})

t.test('counts what failed, broke off or ended without counts, and shows it at the end', async (t) => {
  const { exitCode, output } = await run(
    'passes.ts', 'fails.ts', 'breaks-off.ts', 'ends-early.ts', 'throws-late.ts'
  )
  t.match(output, /fails\.ts: exit code 1\nnot ok 1 - two is three\n {2}diff: 1\n/)
  t.match(output, /breaks-off\.ts: SIGKILL\nok 1\n/)
  t.match(output, /ends-early\.ts: exit code 0\nok 1\n/)
  t.match(output, /throws-late\.ts: exit code 1\n[^]*Error: late/)
  t.match(output, /\n11 passed, 5 failed\n$/)
  t.equal(exitCode, 1)
})

t.test('shows the whole of a failed assertion, and nothing of others', async (t) => {
  const { output } = await run('differs.ts')
  t.match(output, /\nnot ok 1 - is two\n[^]*line 29\n {2}diff: 1\n {2}\.\.\.\n/)
  t.notMatch(output, 'is three')
})

t.test('runs what failed once more, alone, if asked to', async (t) => {
  const paths = toPaths(['passes.ts', 'unsteady.ts', 'fails.ts'])
  const { exitCode, output } = await start([RUNNER, '--again', ...paths])
  t.match(output, /^FAILED \S+unsteady\.ts: 1 passed, 1 failed[^]*\nnot ok 1 - late\n/m, 'the first run is shown')
  t.match(output, /^once more, alone: \S+unsteady\.ts\nok {5}\S+unsteady\.ts: 2 passed, 0 failed/m)
  t.match(output, /^once more, alone: \S+fails\.ts\nFAILED /m)
  t.match(output, /^run once more: 2$/m)
  t.match(output, /\n6 passed, 2 failed\n$/)
  t.equal(exitCode, 1)
  t.match(await start([RUNNER, '--again', ...toPaths(['passes.ts', 'unsteady.ts'])]), {
    exitCode: 0, output: /\n5 passed, 0 failed\n$/
  })
  t.match((await start([RUNNER, '--again', ...toPaths(['passes.ts'])])).output, /^run once more: 0$/m)
  const many = toPaths(['fails.ts', 'fails.ts', 'ends-early.ts', 'throws-late.ts'])
  t.notMatch((await start([RUNNER, '--again', ...many])).output, 'once more, alone', 'if few fail')
})

t.test('ends the processes that a file leaves behind', async (t) => {
  const { exitCode } = await run('leaves.ts')
  t.equal(exitCode, 0)
  await untilGone('leaves.ts')
})

t.test('ends a file that takes too long, and its processes', async (t) => {
  const { exitCode, output } = await start([RUNNER, '--timeout=2', ...toPaths(['hangs.ts'])])
  t.match(output, /hangs\.ts: SIGKILL\n/)
  t.match(output, /\n0 passed, 1 failed\n$/)
  t.equal(exitCode, 1)
  await untilGone('hangs.ts')
})

t.test('runs the files of a group one after the other, in one process', async (t) => {
  const group = [`--import=${LOADER}`, GROUP, ...toPaths(['first.test.ts', 'second.test.ts'])]
  const { exitCode, output } = await start(group, { TAP: '1' })
  t.match(output, /^ok 1 - \S+first\.test\.ts #[^]*^ok 2 - \S+second\.test\.ts #/m)
  t.match(output, /^# \{ total: 5, pass: 5 \}$/m)
  t.equal(exitCode, 0)
  const failing = await start(group, { TAP: '1', STARTS: '2' })
  t.match(failing.output, /^not ok 2 - \S+second\.test\.ts #/m)
  t.match(failing.output, /^# \{ total: 5, pass: 4, fail: 1 \}$/m)
  t.equal(failing.exitCode, 1)
})

const openGroup = () => new Group({
  log: join(folder, 'group.log'), env: { ...process.env, TAP: '1', TAP_TIMEOUT: '100' }, timeoutMs: 100_000
})

t.test('counts the files of a process, each for itself', async (t) => {
  const group = openGroup()
  const results = []
  for (const file of toPaths(['first.test.ts', 'second.test.ts', 'fails.test.ts'])) {
    results.push(await group.run(file))
  }
  t.match(results, [
    { passed: 2, failed: 0, output: /first\.test/ }, { passed: 3, failed: 0 }, { passed: 1, failed: 1, output: /not ok 2 - two/ }
  ])
  t.notMatch(results[2]?.output, 'first.test', 'the output is that of the file')
  t.strictSame([group.isFull, await group.end()], [false, []])
})

t.test('counts a file without a test as failed', async (t) => {
  const group = openGroup()
  const results = []
  for (const file of toPaths(['empty.test.ts', 'first.test.ts', 'plain.test.ts', 'skipped.test.ts'])) {
    results.push(await group.run(file))
  }
  t.match(results, [
    { passed: 0, failed: 1, output: /not ok \d+ - \S+empty\.test\.ts has no test/ }, { passed: 2, failed: 0 },
    { passed: 0, failed: 1, output: /not ok \d+ - \S+plain\.test\.ts has no test/ }, { failed: 0, skipped: 1 }
  ])
  t.strictSame(await group.end(), [], 'each is counted once')
})

t.test('tells of a file that ends its process, and of what files leave behind', async (t) => {
  const dead = openGroup()
  t.match(await dead.run(...toPaths(['dies.test.ts']) as [string]), { passed: 0, failed: 1, end: 'SIGKILL' })
  t.ok(dead.isFull, 'it runs no other file')
  t.strictSame(await dead.end(), [])
  const ended = openGroup()
  t.match(await ended.run(...toPaths(['ends.test.ts']) as [string]), { failed: Number, end: 'exit code 1' })
  t.strictSame(await ended.end(), [], 'its failures are counted once')
  const group = openGroup()
  t.match(await group.run(...toPaths(['late.test.ts']) as [string]), { passed: 1, failed: 0 })
  t.match(await group.end(), [{ failed: 1, output: /too late/ }])
})

t.test('builds again after an edit since the last build began', async (t) => {
  const manifest = { scripts: { build: "node -e \"fs.writeFileSync('dist/index.js', '')\"" } }
  const project = t.testdir({
    src: { 'a.ts': '' },
    build: {},
    dist: { 'sbom.cdx.json': '', 'THIRD-PARTY.md': '' },
    'package.json': JSON.stringify(manifest),
    'package-lock.json': '',
    'tsconfig.json': '',
    'tsconfig.build.json': ''
  })
  const setTime = (path: string, seconds: number) => utimesSync(join(project, path), seconds, seconds)
  for (const path of ['src', 'src/a.ts', 'build']) setTime(path, 1000)
  for (const path of await readdir(project)) if (path !== 'dist') setTime(path, 1000)
  setTime('dist/sbom.cdx.json', 1001)
  setTime('dist/THIRD-PARTY.md', 1020)
  buildIfStale(project)
  t.notOk(existsSync(join(project, 'dist/index.js')), 'not without an edit')
  setTime('src/a.ts', 1010)
  buildIfStale(project)
  t.ok(existsSync(join(project, 'dist/index.js')))
})

t.test('the build gives its last file the time at which it began', async (t) => {
  const dist = fileURLToPath(new URL('../../dist', import.meta.url))
  const files = (await readdir(dist, { recursive: true })).filter((file) => file !== 'sbom.cdx.json')
  const timeOf = (file: string) => statSync(join(dist, file)).mtimeMs
  t.strictSame(files.filter((file) => timeOf(file) <= timeOf('sbom.cdx.json')), [])
})

t.test('names the rooms to who names none of them', async (t) => {
  const running = promisify(execFile)(process.execPath, [RUNNER, 'test:room', 'none'])
  t.match(await running.catch((error) => error), { code: 1, stderr: /^There is no room none\. The rooms: base, .*features\/tasks/ })
})

t.test('counts assertions whose messages have other ends of lines', async (t) => {
  const args = [`--import=${LOADER}`, ...toPaths(['odd-message.test.ts'])]
  const { exitCode, output } = await start(args, { TAP: '1' })
  t.match(output, /^ {4}ok 1 - a b \\\\ \\#$/m)
  t.match(output, /^ {4}not ok 2 - c d$/m)
  t.match(output, /^# \{ total: 2, pass: 1, fail: 1 \}$/m)
  t.equal(exitCode, 1)
})

t.test('counts an error that nobody has caught as one of the running test', async (t) => {
  const args = [`--import=${LOADER}`, ...toPaths(['uncaught.test.ts'])]
  const { exitCode, output } = await start(args, { TAP: '1' })
  const ends = output.match(/^ *(?:not )?ok \d+ - [^#\n]+(?= #)/gm)?.map((line) => line.trim())
  t.strictSame(ends?.slice(0, 4), [
    'ok 1 - listens itself', 'not ok 2 - throws in a timer', 'not ok 1 - inside',
    'not ok 3 - leaves a rejection'
  ])
  t.match(output, /^ +not ok \d+ - thrown$/m)
  t.match(output, /^ +not ok \d+ - rejected$/m)
  t.equal(exitCode, 1)
})

/** Waits until the process that the file has started is gone, or waits for somebody to read its exit code. */
async function untilGone (file: string): Promise<void> {
  const pid = await readFile(join(folder, `${file}.pid`), 'utf8')
  await until(async () => await new Promise((resolve) => {
    execFile('ps', ['-o', 'stat=', '-p', pid], (_, state) => resolve(state === '' || state.startsWith('Z')))
  }), 'the end of the process')
}
