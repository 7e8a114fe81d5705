// A service with several workers, when a worker or the reader of the log fails, or a signal comes too early.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { toolModule, writeCatalog } from '../helpers/catalog-folder.ts'
import { until, within } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import { launch, startService } from '../helpers/service.ts'
import { gated, logLines, readChildren, servingLines } from '../helpers/workers.ts'
import { findFreePort, hasRedisServer, startRedisServer } from '../servers/redis-server.ts'

const DEADLINE_MS = 30_000
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const FILES = { 'tools/who.ts': toolModule('who', '', '() => String(process.pid)') }
/** Writes lines past the log of its worker, as a native module does. */
const PRINTING = `import { writeSync } from 'node:fs'
  setInterval(() => writeSync(2, 'a line\\n'), 50).unref()
  ${toolModule('print', '', "() => ''")}`

if (hasRedisServer(t)) {
  const redis = await startRedisServer(t)
  let services = 0
  const environment = () => ({
    TRIVET_STATE_URL: redis.url,
    TRIVET_STATE_PREFIX: `worker-faults-${++services}`,
    TRIVET_SECRETS: 'a secret of at least thirty-two characters',
    TRIVET_LOG_LEVEL: 'info',
    TRIVET_WATCH: 'off',
    TRIVET_WORKERS: '2'
  })

  t.test('SIGTERM just after the fork of the first worker ends the start with 0', async (t) => {
    const catalog = await writeCatalog(t, FILES)
    const { child, exited, stdout } = launch({ ...environment(), TRIVET_CATALOG: catalog })
    t.teardown(() => { child.kill('SIGKILL') })
    await until(async () => (await readChildren({ child })).length > 0, 'the fork', DEADLINE_MS)
    child.kill('SIGTERM')
    t.equal(await within(exited, 'the end', 5000), 0)
    t.notMatch(stdout(), /serves/)
  })

  for (const output of ['stdout', 'stderr'] as const) {
    t.test(`a full pipe at ${output} that nobody reads does not hold up the end`, async (t) => {
      const pipe = join(await makeFolder(t), 'pipe')
      execFileSync('mkfifo', [pipe])
      const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
      t.teardown(() => { closeSync(reader) })
      const filler = openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
      t.throws(() => { for (;;) writeSync(filler, Buffer.alloc(4096)) }, { code: 'EAGAIN' })
      closeSync(filler)
      // The writer of a shell redirection: it blocks.
      const full = openSync(pipe, 'w')
      const port = await findFreePort()
      const catalog = await writeCatalog(t, { 'tools/print.ts': PRINTING })
      const child = spawn(process.execPath, [MAIN], {
        env: { PATH: process.env.PATH, PORT: String(port), ...environment(), TRIVET_CATALOG: catalog },
        stdio: ['ignore', output === 'stdout' ? full : 'ignore', output === 'stderr' ? full : 'ignore']
      })
      closeSync(full)
      t.teardown(() => { child.kill('SIGKILL') })
      const exited = once(child, 'exit')
      const isServing = async () => (
        await fetch(`http://127.0.0.1:${port}/livez`).then(() => true, () => false)
      )
      await until(isServing, 'the start', DEADLINE_MS)
      child.kill('SIGTERM')
      t.strictSame(await within(exited, 'the exit', 8000), [0, null])
    })
  }

  t.test('a worker that starts while the service drains is unready too', async (t) => {
    const gate = join(await makeFolder(t), 'gate')
    const catalog = await writeCatalog(t, { ...FILES, 'tools/a.ts': gated(gate, 'one') })
    const service = await startService(t, {
      ...environment(), TRIVET_CATALOG: catalog, TRIVET_DRAIN_MS: '4000'
    })
    await until(() => servingLines(service).length === 2, 'both workers', DEADLINE_MS)
    await writeFile(gate, '')
    process.kill(Number(servingLines(service)[0]?.pid), 'SIGKILL')
    const isStarting = async () => (
      (await readChildren(service)).some((pid) => existsSync(`${gate}.${pid}`))
    )
    await until(isStarting, 'the next worker', DEADLINE_MS)
    const stopping = service.stop('SIGTERM')
    await until(() => logLines(service, 'shutting down').length > 0, 'the signal')
    await rm(gate)
    await until(() => servingLines(service).length === 3, 'the start', 3000)
    const url = new URL('/readyz', service.url)
    const statuses = await Promise.all(Array.from({ length: 6 }, async () => (
      (await fetch(url, { headers: { connection: 'close' } })).status
    )))
    t.strictSame([...new Set(statuses)], [503])
    t.equal(await within(stopping, 'the end', DEADLINE_MS), 0)
  })
}
