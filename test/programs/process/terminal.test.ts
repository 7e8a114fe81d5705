// Ctrl-C at a terminal: the first one waits for the requests, the second one ends the service at once.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { writeCatalog, toolModule } from '../../helpers/catalog-folder.ts'
import { until, within } from '../../helpers/deadline.ts'
import { post } from '../../helpers/stream.ts'

const LAUNCH = fileURLToPath(new URL('../../../dist/launch.js', import.meta.url))
const DEADLINE_MS = 20_000
/** Runs a program at a new terminal, and passes on what is typed. */
const AT_TERMINAL = 'import pty, sys; pty.spawn(sys.argv[1:])'
const CTRL_C = '\u0003'

t.test('a second Ctrl-C ends the service at once', { timeout: 60_000 }, async (t) => {
  if (spawnSync('python3', ['--version']).error !== undefined) {
    t.pass('SKIPPED: python3 is missing')
    return
  }
  const catalog = await writeCatalog(t, {
    'tools/slow.ts': toolModule('slow', '', `async (_, ctx) => {
      ctx.log.info('begun')
      return await new Promise((resolve) => setTimeout(resolve, 60_000))
    }`)
  })
  const child = spawn('python3', ['-c', AT_TERMINAL, process.execPath, LAUNCH, 'serve'], {
    detached: true,
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      TRIVET_CATALOG: catalog,
      TRIVET_STATE_URL: 'memory:',
      TRIVET_OVERLOAD: 'off'
    }
  })
  t.teardown(() => { child.kill('SIGKILL') })
  let output = ''
  child.stdout.on('data', (bytes) => { output += String(bytes) })
  const closed = once(child, 'close')
  const urlIn = () => /http:\/\/[^\s"]+/.exec(output)?.[0]
  await until(() => urlIn() !== undefined, 'the start', DEADLINE_MS)
  const call = post(t, urlIn() ?? '', { method: 'tools/call', params: { name: 'slow' } }).catch(String)
  await until(() => output.includes('begun'), 'the call', DEADLINE_MS)
  child.stdin.write(CTRL_C)
  await until(() => output.includes('shutting down'), 'the shutdown', DEADLINE_MS)
  // A person takes longer than a supervisor that repeats itself.
  await new Promise((resolve) => setTimeout(resolve, 700))
  t.equal(child.exitCode, null, 'the call is waited for')
  child.stdin.write(CTRL_C)
  await within(closed, 'the end', 5000)
  await within(call, 'the end of the call')
  t.match(output, 'second SIGINT, exiting')
})
