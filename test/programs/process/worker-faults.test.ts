// A service with several workers, when a worker or the reader of the log fails, or a signal comes too early.

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, openSync, writeSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { adminOriginOf, linesOf } from '../../helpers/admin.ts'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { until, within } from '../../helpers/deadline.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { launch, runService, startService } from '../../helpers/service.ts'
import { post } from '../../helpers/stream.ts'
import { gated, logLines, readChildren, servingLines } from '../../helpers/workers.ts'
import { findFreePort } from '../../helpers/free-port.ts'
import { hasRedisServer, startRedisServer } from '../../servers/redis-server.ts'

const DEADLINE_MS = 30_000
const MAIN = fileURLToPath(new URL('../../../dist/main.js', import.meta.url))
const ENDED = 'a worker has ended: another one takes its place'
const FILES = { 'tools/who.ts': toolModule('who', '', '() => String(process.pid)') }
/** Writes lines past the log of its worker, as a native module does. */
const PRINTING = `import { writeSync } from 'node:fs'
  setInterval(() => writeSync(2, 'a line\\n'), 50).unref()
  ${toolModule('print', '', "() => ''")}`

async function get (agent: Agent, url: string): Promise<{ status: number | undefined, body: unknown }> {
  return await new Promise((resolve, reject) => {
    request(url, { agent }, (response) => {
      json(response).then((body) => resolve({ status: response.statusCode, body }), reject)
    }).on('error', reject).end()
  })
}

// Most of the time they wait: for a drain, an answer that does not come, the next start.
t.jobs = 3

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

  t.test('a worker that hangs does not keep the admin address from what the others report', async (t) => {
    const service = await startService(t, {
      ...environment(), TRIVET_CATALOG: await writeCatalog(t, FILES), TRIVET_ADMIN_PORT: '0'
    })
    await until(() => servingLines(service).length === 2, 'both workers', DEADLINE_MS)
    const origin = await adminOriginOf(service)
    const hanging = Number(servingLines(service).find(({ worker }) => worker === 2)?.pid)
    // Connections are given to workers in turn. Those of the hanging one get no answer.
    const ask = async (path: string) => await Promise.any(Array.from({ length: 2 }, async () => (
      await fetch(origin + path, { headers: { connection: 'close' } })
    )))
    process.kill(hanging, 'SIGSTOP')
    t.teardown(() => { process.kill(hanging, 'SIGKILL') })
    const metrics = await ask('/metrics')
    t.equal(metrics.status, 200)
    t.match(await metrics.text(), /^trivet_workers_ready 2$/m)
    const readiness = await ask('/readyz')
    t.equal(readiness.status, 200)
    t.match(await readiness.json(), {
      ready: true,
      parts: [
        { worker: 1, name: 'state store', ready: true },
        { worker: 1, name: 'catalog' },
        { worker: 2, name: 'process', ready: false, reason: 'no answer' }
      ]
    })
  })

  t.test('readiness is 503 while the parent hangs', async (t) => {
    const service = await startService(t, {
      ...environment(), TRIVET_CATALOG: await writeCatalog(t, FILES), TRIVET_ADMIN_PORT: '0'
    })
    await until(() => servingLines(service).length === 2, 'both workers', DEADLINE_MS)
    const agent = new Agent({ keepAlive: true })
    t.teardown(() => { agent.destroy() })
    const url = `${await adminOriginOf(service)}/readyz`
    t.match(await get(agent, url), { status: 200 }, 'opens a connection: the parent gives new ones away')
    service.child.kill('SIGSTOP')
    t.match(await get(agent, url), {
      status: 503, body: { ready: false, parts: [{ name: 'parent', ready: false, reason: 'no answer' }] }
    })
  })

  t.test('a worker that is killed while others still report is counted once', async (t) => {
    const calls = 60
    const service = await startService(t, {
      ...environment(),
      TRIVET_CATALOG: await writeCatalog(t, FILES),
      TRIVET_ADMIN_PORT: '0',
      TRIVET_WORKERS: '3'
    })
    await until(() => servingLines(service).length === 3, 'all workers', DEADLINE_MS)
    for (let i = 0; i < calls; i++) {
      await post(t, service.url, { method: 'tools/call', params: { name: 'who', arguments: {} } })
    }
    const metrics = `${await adminOriginOf(service)}/metrics`
    const count = async () => {
      const text = await (await fetch(metrics, { headers: { connection: 'close' } })).text()
      const counts = linesOf(text, 'mcp_server_operation_duration_seconds_count')
      return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
    }
    t.equal(await count(), calls)
    const pidOf = (number: number) => Number(
      servingLines(service).find(({ worker }) => worker === number)?.pid
    )
    process.kill(pidOf(2), 'SIGSTOP')
    const during = Promise.allSettled(Array.from({ length: 6 }, count))
    await pause(400)
    process.kill(pidOf(1), 'SIGKILL')
    await until(() => logLines(service, ENDED).length === 1, 'its end')
    process.kill(pidOf(2), 'SIGCONT')
    await during
    t.equal(await count(), calls)
    await until(() => servingLines(service).length === 4, 'another worker', DEADLINE_MS)
    t.equal(await count(), calls, 'when the next worker reports too')
  })

  t.test('a first worker that a signal ends each time ends the start, and the text says so', async (t) => {
    const catalog = await writeCatalog(t, { 'tools/a.ts': "process.kill(process.pid, 'SIGKILL')\n" })
    const { code, stdout, stderr } = await runService({ ...environment(), TRIVET_CATALOG: catalog })
    t.equal(code, 1)
    t.match(stderr, /^SIGKILL ended the first worker 6 times before it served\. .*memory limit.*\n$/)
    const records = logLines({ stdout: () => stdout })
    t.equal(records.filter(({ msg }) => msg === ENDED).length, 5)
    t.match(records.filter(({ level }) => level === 60), [
      { msg: 'the service has not started', problems: [stderr.trim()] }
    ])
  })
}
