// What signals do to the built service: SIGHUP reloads, a second SIGTERM or SIGINT ends it at once.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import t, { type Test } from 'tap'
import { adminOriginOf, linesOf } from './helpers/admin.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from './helpers/catalog-folder.ts'
import { until, within } from './helpers/deadline.ts'
import { makeFolder } from './helpers/folder.ts'
import { findFreePort } from './helpers/free-port.ts'
import type { Message } from './helpers/request.ts'
import { runService, startService, type Service } from './helpers/service.ts'
import { openStream, post } from './helpers/stream.ts'

const DEADLINE_MS = 30_000
const saying = (text: string): string => toolModule('a', '', `() => '${text}'`)

function logLines ({ stdout }: Pick<Service, 'stdout'>, message?: string): Message[] {
  const lines = stdout().split('\n').filter((line) => line.startsWith('{') && line.endsWith('}'))
  return lines.map((line): Message => JSON.parse(line)).filter(({ msg }) => msg === (message ?? msg))
}

async function call ({ url }: Service, name = 'a'): Promise<Message> {
  const { response } = await post(t, url, { method: 'tools/call', params: { name } })
  return response.result?.content[0].text ?? response.error
}

/** A service that notices no change by itself. */
async function startUnwatched (
  t: Test, files: Files, environment: { readonly [variable: string]: string } = {}
): Promise<{ readonly service: Service, readonly catalog: string }> {
  const catalog = await writeCatalog(t, files)
  const service = await startService(t, {
    TRIVET_CATALOG: catalog, TRIVET_WATCH: 'off', TRIVET_LOG_LEVEL: 'info', ...environment
  })
  return { service, catalog }
}

/** A module that waits while it is evaluated, until the gate exists. The first evaluation does not wait. */
const gated = (gate: string): string => `import { existsSync } from 'node:fs'
  import { setTimeout } from 'node:timers/promises'
  globalThis.evaluations = (globalThis.evaluations ?? 0) + 1
  const evaluation = globalThis.evaluations
  while (evaluation > 1 && !existsSync(${JSON.stringify(gate)})) await setTimeout(5)
  ${toolModule('a', '', '() => String(evaluation)')}`

t.test('SIGHUP loads the catalog again, whole or not at all', async (t) => {
  const files = { 'tools/a.ts': saying('one') }
  const { service, catalog } = await startUnwatched(t, files, { TRIVET_ADMIN_PORT: '0' })
  const metrics = `${await adminOriginOf(service)}/metrics`
  const counts = async () => linesOf(await (await fetch(metrics)).text(), 'trivet_catalog_reloads_total')
  const stream = await openStream(t, service.url, {
    method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } }
  })
  t.match(await stream.next(), { params: { notifications: { toolsListChanged: true } } })

  await writeInPlace(catalog, 'tools/a.ts', saying('two'))
  await writeInPlace(catalog, 'tools/b.ts', 'export default 1\n')
  service.child.kill('SIGHUP')
  await until(() => logLines(service, 'reloading').length === 1, 'the line that says why')
  const refused = 'catalog not reloaded: the one from before keeps serving'
  await until(() => logLines(service, refused).length === 1, 'the refusal', DEADLINE_MS)
  t.match(logLines(service, refused)[0].problems, [{ file: 'tools/b.ts' }])
  t.equal(await call(service), 'one')

  await writeInPlace(catalog, 'tools/b.ts', toolModule('b'))
  service.child.kill('SIGHUP')
  await until(() => logLines(service, 'catalog reloaded').length === 1, 'the reload', DEADLINE_MS)
  t.equal(await call(service), 'two')
  t.match(await counts(), [/"success"\} 1$/, /"failure"\} 1$/])
  t.match(await stream.next(), { method: 'notifications/tools/list_changed' }, 'clients that listen hear it')
})

t.test('SIGHUP evaluates every module again, although no file has changed', async (t) => {
  const { service } = await startUnwatched(t, {
    'tools/a.ts': `const loaded = process.hrtime.bigint()\n${toolModule('a', '', '() => String(loaded)')}`
  }, { TRIVET_WATCH: 'on' })
  const before = await call(service)
  service.child.kill('SIGHUP')
  await until(() => logLines(service, 'catalog reloaded').length === 1, 'the reload', DEADLINE_MS)
  t.not(await call(service), before)
})

t.test('one reload follows the SIGHUPs that come during a reload', async (t) => {
  const gate = join(await makeFolder(t), 'gate')
  const { service } = await startUnwatched(t, { 'tools/a.ts': gated(gate) })
  const hangUps = () => logLines(service, 'reloading').length
  for (let count = 1; count <= 5; count++) {
    service.child.kill('SIGHUP')
    // The system merges signals that nobody has received yet.
    await until(() => hangUps() === count, 'the line of this SIGHUP')
  }
  t.equal(await call(service), '1', 'the catalog before serves meanwhile')
  await writeFile(gate, '')
  await until(() => logLines(service, 'catalog reloaded').length === 2, 'both reloads', DEADLINE_MS)
  service.child.kill('SIGHUP')
  await until(() => logLines(service, 'catalog reloaded').length === 3, 'a later reload', DEADLINE_MS)
  t.equal(await call(service), '4', 'and nothing was loaded in between')
})

t.test('SIGHUP during the start leads to a reload when the service serves', async (t) => {
  const { service } = await startUnwatched(t, {
    'tools/a.ts': `globalThis.evaluations = (globalThis.evaluations ?? 0) + 1
      const evaluation = globalThis.evaluations
      if (evaluation === 1) {
        process.kill(process.pid, 'SIGHUP')
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      ${toolModule('a', '', '() => String(evaluation)')}`
  })
  await until(async () => await call(service) === '2', 'the reload', DEADLINE_MS)
  await until(() => logLines(service, 'catalog reloaded').length === 1, 'the line of the reload')
  t.equal(logLines(service, 'reloading').length, 1)
})

t.test('SIGHUP during a shutdown does nothing', async (t) => {
  const { service } = await startUnwatched(t, { 'tools/a.ts': saying('one') }, { TRIVET_DRAIN_MS: '300' })
  const stopped = service.stop()
  await until(() => logLines(service, 'shutting down').length === 1, 'the shutdown')
  service.child.kill('SIGHUP')
  t.equal(await within(stopped, 'the exit', 10_000), 0)
  const messages = logLines(service).map(({ msg }) => msg)
  t.strictSame(messages.slice(1), ['shutting down'], 'after the line of the start')
})

t.test('the closed terminal of a service ends it', async (t) => {
  const catalog = await writeCatalog(t, {})
  // `script` runs its command in a new terminal, and prints what the command prints.
  const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  const terminal = spawn('script', ['-qfec', `exec ${process.execPath} ${main}`, '/dev/null'], {
    env: {
      PATH: process.env.PATH ?? '',
      SHELL: '/bin/sh',
      PORT: '0',
      TRIVET_STATE_URL: 'memory:',
      TRIVET_CATALOG: catalog
    },
    stdio: ['pipe', 'pipe', 'inherit']
  })
  const exited = once(terminal, 'exit')
  t.teardown(() => terminal.kill('SIGKILL'))
  let output = ''
  terminal.stdout.on('data', (chunk) => { output += String(chunk) })
  const childrenOf = async () => await readFile(`/proc/${terminal.pid}/task/${terminal.pid}/children`, 'utf8')
  await until(() => / at (http:\S+)/.test(output), 'the start', DEADLINE_MS)
  process.kill(Number((await childrenOf()).trim()), 'SIGHUP')
  await within(exited, 'the exit', 10_000)
  t.match(stripVTControlCharacters(output), /shutting down signal="SIGHUP"/, 'the log is for people there')
})

t.test('the end of the npm command that started a service ends it', async (t) => {
  const catalog = await writeCatalog(t, {})
  const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
  // npm starts a shell, which does not pass on signals. The shell here does not replace itself.
  const shell = spawn('/bin/sh', ['-c', `${process.execPath} ${main}; true`], {
    env: { PORT: '0', TRIVET_CATALOG: catalog, TRIVET_STATE_URL: 'memory:', npm_lifecycle_event: 'start' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  let output = ''
  shell.stdout.on('data', (chunk) => { output += String(chunk) })
  const closed = once(shell.stdout, 'close')
  await until(() => output.includes('http://'), 'the start', DEADLINE_MS)
  shell.kill('SIGTERM')
  await within(closed, 'the end of the output', 10_000)
  t.match(output, /has ended[^]*"signal":"SIGTERM".*"msg":"shutting down"/)
})

t.test('SIGHUP reads the log level again, from the file of TRIVET_LOG_LEVEL_FILE', async (t) => {
  const file = join(await makeFolder(t), 'log-level')
  const { service } = await startUnwatched(t, {
    'tools/a.ts': toolModule('a', '', "(_, ctx) => { ctx.log.info('from the tool'); return 'done' }")
  }, { TRIVET_LOG_LEVEL: 'warn', TRIVET_LOG_LEVEL_FILE: file, TRIVET_ADMIN_PORT: '0' })
  const answers = () => logLines(service).filter(({ msg }) => msg.startsWith('log level'))
  const set = async (level: string | undefined) => {
    const before = answers().length
    await (level === undefined ? rm(file) : writeFile(file, level))
    service.child.kill('SIGHUP')
    await until(() => answers().length > before, `the answer to ${level}`)
    await call(service)
  }

  await call(service)
  for (const level of ['info\n', 'loud', 'silent', 'loud', 'debug', undefined]) await set(level)
  const [changed, kept, ofCall] = ['log level changed', 'log level not changed', ['from the tool', 'request']]
  t.strictSame(
    logLines(service).map(({ msg }) => msg).filter((msg) => [changed, kept, ...ofCall].includes(msg)),
    // Answers are written also when the log is silent.
    [changed, ...ofCall, kept, ...ofCall, changed, kept, changed, ...ofCall, changed]
  )
  t.strictSame(answers().filter(({ msg }) => msg === changed).map(({ from, to }) => `${from} to ${to}`), [
    'warn to info', 'info to silent', 'silent to debug', 'debug to warn'
  ], 'without the file TRIVET_LOG_LEVEL counts')
  t.match(
    answers()[1].err.message,
    new RegExp(`${file} must contain one of trace, debug, info, warn, error, fatal, silent, got "loud"$`)
  )
})

t.test('requests that run follow the log level too', async (t) => {
  const folder = await makeFolder(t)
  const [file, gate] = [join(folder, 'log-level'), join(folder, 'gate')]
  const { service } = await startUnwatched(t, {
    'tools/a.ts': `import { existsSync } from 'node:fs'
      import { setTimeout } from 'node:timers/promises'
      ${toolModule('a', '', `async (_, ctx) => {
        ctx.log.error('begun')
        while (!existsSync('${gate}')) await setTimeout(5)
        ctx.log.info('ended')
        return 'done'
      }`)}`
  }, { TRIVET_LOG_LEVEL: 'error', TRIVET_LOG_LEVEL_FILE: file })
  const answer = call(service)
  await until(() => logLines(service, 'begun').length === 1, 'the call')
  await writeFile(file, 'info')
  service.child.kill('SIGHUP')
  await until(() => logLines(service, 'log level changed').length === 1, 'the change')
  await writeFile(gate, '')
  t.equal(await answer, 'done')
  await until(() => logLines(service, 'ended').length === 1, 'its line at the new level')
})

t.test('a file with another content ends the start with a message', async (t) => {
  const file = join(await makeFolder(t), 'log-level')
  const catalog = await writeCatalog(t, {})
  for (const [content, problem] of [
    ['loud', 'must contain one of trace, debug'], ['x'.repeat(1000), `got "${'x'.repeat(40)}"\n`]
  ] as const) {
    await writeFile(file, content)
    const { code, stderr } = await runService({ TRIVET_CATALOG: catalog, TRIVET_LOG_LEVEL_FILE: file })
    t.equal(code, 1)
    t.match(stderr, `The settings are not usable:\n  TRIVET_LOG_LEVEL_FILE: ${file} `)
    t.match(stderr, problem)
  }
  const { code, stderr } = await runService({ TRIVET_CATALOG: catalog, TRIVET_LOG_LEVEL_FILE: catalog })
  t.equal(code, 1)
  t.match(stderr, /TRIVET_LOG_LEVEL_FILE: \S+ cannot be read: EISDIR/)
  await rm(file)
  execFileSync('mkfifo', [file])
  const pipe = await runService({ TRIVET_CATALOG: catalog, TRIVET_LOG_LEVEL_FILE: file })
  t.match(pipe.stderr, /cannot be read: expected a file, got a named pipe/)
})

const PAIRS = [['SIGTERM', 'SIGTERM'], ['SIGINT', 'SIGINT'], ['SIGTERM', 'SIGINT']] as const

for (const [first, second] of PAIRS) {
  t.test(`${second} after ${first} ends the service at once, with exit code 1`, async (t) => {
    const { service } = await startUnwatched(t, {
      'tools/a.ts': toolModule(
        'a', '', "async (_, ctx) => { ctx.log.info('begun'); await new Promise(() => {}) }"
      )
    }, { TRIVET_DRAIN_MS: '60000', TRIVET_SHUTDOWN_TIMEOUT_MS: '60000' })
    const answer = call(service).catch(() => 'cut')
    await until(() => logLines(service, 'begun').length === 1, 'the call')
    const stopped = service.stop(first)
    await until(() => logLines(service, 'shutting down').length === 1, 'the shutdown')
    // A signal that follows at once is the same one, passed on by a parent.
    service.child.kill(second)
    await pause(700)
    t.equal(logLines(service, `second ${second}, exiting`).length, 0)
    service.child.kill(second)
    t.equal(await within(stopped, 'the exit', 20_000), 1)
    t.match(logLines(service).at(-1), { level: 50, msg: `second ${second}, exiting` }, 'and no line is lost')
    t.equal(await answer, 'cut')
  })
}

t.test('the port opens when the catalog is loaded', async (t) => {
  const folder = await makeFolder(t)
  const port = await findFreePort()
  const catalog = await writeCatalog(t, {
    'tools/a.ts': `import { existsSync, writeFileSync } from 'node:fs'
      import { setTimeout } from 'node:timers/promises'
      writeFileSync('${folder}/started', '')
      while (!existsSync('${folder}/gate')) await setTimeout(5)
      ${saying('one')}`
  })
  const starting = startService(t, { TRIVET_CATALOG: catalog, PORT: String(port) })
  const status = async (path: string) => await fetch(`http://127.0.0.1:${port}${path}`).then(
    (response) => response.status, () => 'refused'
  )
  await until(() => existsSync(join(folder, 'started')), 'the load', DEADLINE_MS)
  t.strictSame([await status('/livez'), await status('/readyz')], ['refused', 'refused'])
  await writeFile(join(folder, 'gate'), '')
  await starting
  t.strictSame([await status('/livez'), await status('/readyz')], [200, 200])
})

t.test('SIGHUP opens the audit log anew, and SIGTERM loses none of its lines', async (t) => {
  const auditFile = join(await makeFolder(t), 'audit.jsonl')
  const files = { 'tools/a.ts': saying('one') }
  const { service } = await startUnwatched(t, files, { TRIVET_AUDIT_FILE: auditFile })
  await call(service)
  await until(async () => (await readFile(auditFile, 'utf8')).includes('"event":"call"'), 'the first line')
  await rename(auditFile, `${auditFile}.1`)
  service.child.kill('SIGHUP')
  await until(() => existsSync(auditFile), 'the new file')
  for (let count = 0; count < 50; count++) await call(service)
  await service.stop()
  t.equal((await readFile(auditFile, 'utf8')).split('"event":"call"').length, 51)
  t.equal((await readFile(`${auditFile}.1`, 'utf8')).split('"event":"call"').length, 2)
})

t.test('the audit log can go to standard error', async (t) => {
  const { service } = await startUnwatched(t, { 'tools/a.ts': saying('one') }, {
    TRIVET_AUDIT_FILE: '/dev/stderr'
  })
  await call(service)
  await service.stop()
  t.match(service.stderr(), '"event":"call"')
  t.notMatch(service.stdout(), '"event":"call"')
})

t.test('SIGUSR2 ends nothing', async (t) => {
  const { service } = await startUnwatched(t, { 'tools/a.ts': saying('one') })
  service.child.kill('SIGUSR2')
  t.equal(await call(service), 'one')
  service.child.kill('SIGHUP')
  await until(() => logLines(service, 'catalog reloaded').length === 1, 'a later signal', DEADLINE_MS)
  t.strictSame(logLines(service, 'shutting down'), [])
})
