// A service with several workers, when a worker or the reader of the log fails, or a signal comes too early.

import { rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { toolModule, writeCatalog } from '../helpers/catalog-folder.ts'
import { until, within } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import { launch, startService } from '../helpers/service.ts'
import { gated, logLines, readChildren, servingLines } from '../helpers/workers.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'

const DEADLINE_MS = 30_000
const FILES = { 'tools/who.ts': toolModule('who', '', '() => String(process.pid)') }

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
