// The runner of the tests: its last line and its exit code say what passed, failed and broke off.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const RUNNER = fileURLToPath(new URL('run.mjs', import.meta.url))
const folder = t.testdir({
  'passes.ts': 'const counts: string = "# { total: 5, pass: 3, skip: 2 }"\nconsole.log(counts)',
  'fails.ts': `console.log('not ok 1 - two is three\\n  diff: 1\\n# { total: 3, pass: 1, fail: 2 }')
    process.exit(1)`,
  'breaks-off.ts': "console.log('ok 1')\nprocess.kill(process.pid, 'SIGKILL')\nsetInterval(() => {}, 1000)",
  'ends-early.ts': "console.log('ok 1')",
  'throws-late.ts': "console.log('# { total: 7, pass: 7 }')\nsetImmediate(() => { throw new Error('late') })"
})

async function run (...files: readonly string[]): Promise<{ exitCode: number, output: string }> {
  return await new Promise((resolve) => {
    const paths = files.map((file) => join(folder, file))
    const child = execFile(process.execPath, [RUNNER, ...paths], (_, output) => {
      resolve({ exitCode: child.exitCode ?? -1, output })
    })
  })
}

t.test('counts what passed', async (t) => {
  const { exitCode, output } = await run('passes.ts')
  t.match(output, /^ok {5}\S+passes\.ts: 3 passed, 0 failed, 2 skipped in [\d.]+ s$/m)
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
