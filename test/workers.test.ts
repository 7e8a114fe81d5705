// Several workers behind one port, as an operator starts them: what they share, and what happens when one of
// them, or their parent, ends.

import { existsSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { adminOriginOf, linesOf } from './helpers/admin.ts'
import { toolModule, writeCatalog, writeInPlace, type Files } from './helpers/catalog-folder.ts'
import { counterModule } from './helpers/counter-module.ts'
import { until, within } from './helpers/deadline.ts'
import { makeFolder } from './helpers/folder.ts'
import type { Message } from './helpers/request.ts'
import { launch, runService, startService, type Service } from './helpers/service.ts'
import { openSession } from './helpers/session.ts'
import { post } from './helpers/stream.ts'
import { gated, logLines, readChildren, servingLines } from './helpers/workers.ts'
import { findFreePort } from './helpers/free-port.ts'
import { hasRedisServer, startRedisServer } from './servers/redis-server.ts'

const DEADLINE_MS = 30_000
const FILES = {
  'tools/who.ts': toolModule('who', '', '() => String(process.pid)'),
  'tools/slow.ts': toolModule('slow', '', `async () => {
    await new Promise((done) => setTimeout(done, 1500))
    return String(process.pid)
  }`),
  'tools/list.ts': counterModule('list', 'lst', 'idleTtlMs: 600_000')
}

async function call (t: Test, url: string, name: string, args: object = {}): Promise<string> {
  const { response } = await post(t, url, { method: 'tools/call', params: { name, arguments: args } })
  return response.result?.content[0].text ?? JSON.stringify(response.error)
}

/** Asks until every worker has answered: each connection is given to the next one. */
async function callAll (t: Test, { url }: Service, name = 'who', answers = 2): Promise<string[]> {
  const seen = new Set<string>()
  await until(async () => seen.add(await call(t, url, name)).size === answers, 'all workers', DEADLINE_MS)
  return [...seen].toSorted()
}

const isRunning = (pid: number): boolean => existsSync(`/proc/${pid}`)

// Most of the time they wait: for a drain, a kill, a start. The longest begins first.
t.jobs = 3

if (hasRedisServer(t)) {
  const redis = await startRedisServer(t)
  let services = 0
  const environment = () => ({
    TRIVET_STATE_URL: redis.url,
    TRIVET_STATE_PREFIX: `workers-${++services}`,
    TRIVET_SECRETS: 'a secret of at least thirty-two characters',
    TRIVET_LOG_LEVEL: 'info',
    TRIVET_WATCH: 'off',
    TRIVET_WORKERS: '2',
    TRIVET_MAX_CALLS_PER_CALLER: 'off'
  })
  /** Resolves when both workers serve. */
  const start = async (t: Test, catalog: string, more: { readonly [variable: string]: string } = {}) => {
    const service = await startService(t, { ...environment(), TRIVET_CATALOG: catalog, ...more })
    await until(() => servingLines(service).length === 2, 'both workers', DEADLINE_MS)
    return service
  }
  const startFiles = async (t: Test, files: Files = FILES, more = {}) =>
    await start(t, await writeCatalog(t, files), more)

  t.test('a worker that hangs is killed and replaced', { timeout: 120_000 }, async (t) => {
    const hang = '() => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) }'
    const service = await startFiles(t, { ...FILES, 'tools/hang.ts': toolModule('hang', '', hang) })
    call(t, service.url, 'hang').catch(() => {})
    const killed = 'a worker does not answer, and is killed'
    await until(() => logLines(service, killed).length === 1, 'the kill', 60_000)
    await until(() => servingLines(service).length === 3, 'another worker', DEADLINE_MS)
    t.equal((await callAll(t, service)).length, 2)
    t.equal(await service.stop(), 0)
  })

  t.test('two workers are one service: handles, sessions, metrics, readiness', async (t) => {
    const service = await startFiles(t, FILES, { TRIVET_ADMIN_PORT: '0' })
    const { url } = service
    t.strictSame(servingLines(service).map(({ worker }) => worker), [1, 2])
    t.equal(new Set(servingLines(service).map((line) => line.url)).size, 1, 'one address')
    const pids = await callAll(t, service)
    t.notOk(pids.includes(String(service.child.pid)), 'the parent serves nothing')

    const id = await call(t, url, 'create_list')
    for (const name of ['a', 'b', 'c', 'd']) await call(t, url, 'change_list', { id, name })
    t.equal(await call(t, url, 'read_list', { id }), '["a","b","c","d"]')

    const session = await openSession(t, url)
    const seen = new Set<string>()
    await until(async () => {
      const { result } = await session.request('tools/call', { name: 'who', arguments: {} })
      return seen.add(result.content[0].text).size === 2
    }, 'both workers in one session')

    const origin = await adminOriginOf(service)
    const admin = async (path: string): Promise<string> => await (await fetch(origin + path)).text()
    const count = async () => {
      const text = await admin('/metrics')
      const counts = linesOf(text, 'mcp_server_operation_duration_seconds_count')
      return Number(counts.find((line) => line.includes('"change_list"'))?.split(' ').at(-1))
    }
    for (let reading = 0; reading < 4; reading++) t.equal(await count(), 4, 'whichever worker answers')
    t.match(await admin('/'), '<th scope="row">change_<wbr>list</th><td>4</td>', 'on the page too')
    const health = JSON.parse(await admin('/readyz'))
    t.match(health, { ready: true })
    t.strictSame(health.parts.map((part: Message) => [part.worker, part.name]), [
      [1, 'state store'], [1, 'catalog'], [2, 'state store'], [2, 'catalog']
    ])
    t.equal(await service.stop(), 0)
  })

  t.test('SIGTERM drains one worker after the other, and loses no request', async (t) => {
    const service = await startFiles(t)
    const pids = await callAll(t, service)
    const calls = Promise.all(Array.from({ length: 8 }, async () => await call(t, service.url, 'slow')))
    await pause(500)
    const stopping = service.stop('SIGTERM')
    t.strictSame([...new Set(await calls)].toSorted(), pids)
    t.equal(await within(stopping, 'the end', DEADLINE_MS), 0)
    const [first, second] = logLines(service, 'shutting down').filter(({ worker }) => worker !== undefined)
    t.ok(second.time - first.time >= 1000, 'the second one serves while the first one drains')
    t.ok(second.timeoutMs < first.timeoutMs, 'in what is left of the time')
    t.equal(service.stderr(), '')
  })

  t.test('SIGHUP reloads all workers together', async (t) => {
    const catalog = await writeCatalog(t, { 'tools/a.ts': toolModule('a', '', "() => 'one'") })
    const service = await start(t, catalog)
    await writeInPlace(catalog, 'tools/a.ts', toolModule('a', '', "() => 'two'"))
    service.child.kill('SIGHUP')
    await until(() => logLines(service, 'catalog reloaded').length === 2, 'both reloads', DEADLINE_MS)
    t.strictSame(logLines(service, 'catalog reloaded').map(({ worker }) => worker).toSorted(), [1, 2])
    for (let i = 0; i < 4; i++) t.equal(await call(t, service.url, 'a'), 'two')

    await writeInPlace(catalog, 'tools/b.ts', 'export default 1\n')
    service.child.kill('SIGHUP')
    const refused = 'catalog not reloaded: the one from before keeps serving'
    await until(() => logLines(service, refused).length === 2, 'both refusals', DEADLINE_MS)
    for (let i = 0; i < 4; i++) t.equal(await call(t, service.url, 'a'), 'two')
  })

  t.test('a worker that is killed under load loses nothing acknowledged, and is replaced', async (t) => {
    const service = await startFiles(t, FILES, { TRIVET_ADMIN_PORT: '0' })
    const id = await call(t, service.url, 'create_list')
    const [victim] = await callAll(t, service)
    const acknowledged: string[] = []
    const load = new AbortController()
    const clients = Promise.all(Array.from({ length: 4 }, async (_, client) => {
      for (let i = 0; !load.signal.aborted; i++) {
        const name = `${client}-${i}`
        const answer = await call(t, service.url, 'change_list', { id, name }).catch(() => '')
        if (answer.includes(`"${name}"`)) acknowledged.push(name)
      }
    }))
    await until(() => acknowledged.length > 20, 'the load', DEADLINE_MS)
    const metrics = `${await adminOriginOf(service)}/metrics`
    const total = async () => {
      const text = await (await fetch(metrics)).text()
      const counts = linesOf(text, 'mcp_server_operation_duration_seconds_count')
      return counts.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
    }
    const before = await total()
    process.kill(Number(victim), 'SIGKILL')
    await until(() => servingLines(service).length === 3, 'another worker', DEADLINE_MS)
    const during = acknowledged.length
    await until(() => acknowledged.length > during + 20, 'calls that go on', DEADLINE_MS)
    load.abort()
    await clients
    const kept = new Set<string>(JSON.parse(await call(t, service.url, 'read_list', { id })))
    t.strictSame(acknowledged.filter((name) => !kept.has(name)), [])
    t.match(logLines(service, 'a worker has ended: another one takes its place'), [{ signal: 'SIGKILL' }])
    t.ok(await total() > before, 'the counts of the lost worker are kept')
    t.notOk((await callAll(t, service)).includes(String(victim)))
  })

  t.test('a worker that is killed during a start, or during a reload, is replaced', async (t) => {
    const gate = join(await makeFolder(t), 'gate')
    const waiting = (pid: string | number) => existsSync(`${gate}.${pid}`)
    const catalog = await writeCatalog(t, { ...FILES, 'tools/a.ts': gated(gate, 'one') })
    const service = await start(t, catalog)
    const [first = '', second = ''] = await callAll(t, service)

    await writeFile(gate, '')
    process.kill(Number(first), 'SIGKILL')
    const pidsOf = (message: string) => logLines(service, message).map(({ pid }) => pid)
    const children = async () => (await readChildren(service)).filter((pid) => String(pid) !== second)
    await until(async () => (await children()).some(waiting), 'a worker that starts', DEADLINE_MS)
    const [starting = 0] = await children()
    process.kill(starting, 'SIGKILL')
    t.equal(await call(t, service.url, 'a'), `one ${second}`, 'the other one serves')
    await until(async () => (await children()).some((pid) => pid !== starting && waiting(pid)), 'the next')
    await rm(gate)
    await until(() => servingLines(service).length === 3, 'the replacement', DEADLINE_MS)
    t.equal((await callAll(t, service, 'a')).length, 2)

    await writeFile(gate, '')
    await writeInPlace(catalog, 'tools/a.ts', gated(gate, 'two'))
    service.child.kill('SIGHUP')
    await until(() => pidsOf('reloading').length === 2, 'the reloads', DEADLINE_MS)
    process.kill(Number(second), 'SIGKILL')
    await rm(gate)
    await until(() => servingLines(service).length === 4, 'the second replacement', DEADLINE_MS)
    await until(() => logLines(service, 'catalog reloaded').length === 1, 'the reload', DEADLINE_MS)
    const answers = await callAll(t, service, 'a')
    t.ok(answers.every((text) => text.startsWith('two ')), 'both serve the new catalog')
    t.equal(await service.stop(), 0)
  })

  t.test('workers whose parent is killed finish their requests and end, and the port is free', async (t) => {
    const port = await findFreePort()
    const service = await startFiles(t, FILES, { PORT: String(port) })
    const pids = (await callAll(t, service)).map(Number)
    const slow = call(t, service.url, 'slow')
    await pause(500)
    service.child.kill('SIGKILL')
    t.ok(pids.includes(Number(await slow)), 'a request that was running')
    await until(() => !pids.some(isRunning), 'the end of the workers', DEADLINE_MS)
    const refused = await new Promise((resolve) => {
      const connection = createConnection({ port, host: '127.0.0.1' })
      connection.on('error', () => resolve(true)).on('connect', () => resolve(false))
    })
    t.equal(refused, true)
    const next = await startFiles(t, FILES, { PORT: String(port) })
    t.equal(await next.stop(), 0)
  })

  t.test('signals to all processes of the service, as supervisors send them, count once', async (t) => {
    const service = await startFiles(t)
    const pids = (await callAll(t, service)).map(Number)
    const slow = call(t, service.url, 'slow')
    await pause(300)
    for (const pid of pids) process.kill(pid, 'SIGTERM')
    await pause(100)
    t.equal((await callAll(t, service)).length, 2, 'workers leave it to their parent')
    const stopping = service.stop('SIGTERM')
    t.ok(pids.includes(Number(await slow)))
    t.equal(await stopping, 0)
  })

  t.test('a problem of the catalog ends the start with one text and one record', async (t) => {
    const catalog = await writeCatalog(t, { 'tools/a.ts': 'export default 1\n' })
    const { code, stdout, stderr } = await runService({ ...environment(), TRIVET_CATALOG: catalog })
    t.equal(code, 1)
    t.equal(stderr.match(/tools\/a\.ts/g)?.length, 1, stderr)
    const records = logLines({ stdout: () => stdout }).filter(({ level }) => level === 60)
    t.match(records, [{ worker: 1, msg: 'the service has not started', problems: [{ file: 'tools/a.ts' }] }])
  })

  t.test('a problem of the settings is told by the parent, in the words of one process', async (t) => {
    const { code, stderr } = await runService({ ...environment(), TRIVET_WORKERS: '0' })
    t.equal(code, 1)
    t.match(stderr, /^The settings are not usable:\n {2}TRIVET_WORKERS must be an integer .*\n$/)
  })

  t.test('a port that is taken ends the start', async (t) => {
    const service = await startFiles(t)
    const { port } = new URL(service.url)
    const catalog = await writeCatalog(t, FILES)
    const { code, stderr } = await runService({ ...environment(), TRIVET_CATALOG: catalog, PORT: port })
    t.equal(code, 1)
    t.match(stderr, /^Cannot listen on port \d+ of 127\.0\.0\.1: another process listens there.*\n$/)
  })

  t.test('SIGTERM during the start ends it with 0', async (t) => {
    const gate = join(await makeFolder(t), 'gate')
    await writeFile(gate, '')
    const catalog = await writeCatalog(t, { 'tools/a.ts': gated(gate, 'one') })
    const { child, exited, stdout } = launch({ ...environment(), TRIVET_CATALOG: catalog })
    t.teardown(() => { child.kill('SIGKILL') })
    const isWaiting = async () => (await readChildren({ child })).some((pid) => existsSync(`${gate}.${pid}`))
    await until(isWaiting, 'the start', DEADLINE_MS)
    child.kill('SIGTERM')
    t.equal(await within(exited, 'the end', DEADLINE_MS), 0)
    t.notMatch(stdout(), /serves/)
  })

  t.test('the first worker is replaced too if it is killed while it starts', async (t) => {
    const gate = join(await makeFolder(t), 'gate')
    await writeFile(gate, '')
    const catalog = await writeCatalog(t, { ...FILES, 'tools/a.ts': gated(gate, 'one') })
    const { child, exited, stdout } = launch({ ...environment(), TRIVET_CATALOG: catalog })
    t.teardown(() => { child.kill('SIGKILL') })
    const starting = async () => (await readChildren({ child })).find((pid) => existsSync(`${gate}.${pid}`))
    await until(async () => await starting() !== undefined, 'the start', DEADLINE_MS)
    process.kill(Number(await starting()), 'SIGKILL')
    await rm(gate)
    await until(() => stdout().match(/\/mcp"/g)?.length === 2, 'both workers', DEADLINE_MS)
    child.kill('SIGTERM')
    t.equal(await within(exited, 'the end', DEADLINE_MS), 0)
  })

  t.test('all workers are unready, and serve, while load balancers notice', async (t) => {
    const service = await startFiles(t, FILES, { TRIVET_DRAIN_MS: '3000' })
    const stopping = service.stop('SIGTERM')
    const url = new URL('/readyz', service.url)
    const ready = async () => (await fetch(url, { headers: { connection: 'close' } })).status
    await until(async () => await ready() === 503 && await ready() === 503, 'both to be unready', 2000)
    t.equal((await callAll(t, service)).length, 2)
    t.equal(await within(stopping, 'the end', DEADLINE_MS), 0)
  })

  t.test('a second signal ends all processes at once', async (t) => {
    const service = await startFiles(t)
    const pids = (await callAll(t, service)).map(Number)
    call(t, service.url, 'slow').catch(() => {})
    service.child.kill('SIGTERM')
    await until(() => logLines(service, 'shutting down').length > 0, 'the first signal')
    // A signal that follows at once counts as the same one.
    await pause(600)
    t.equal(await within(service.stop('SIGTERM'), 'the end', 2000), 1)
    await until(() => !pids.some(isRunning), 'the end of the workers', 2000)
  })

  t.test('lines of several workers stay whole, also while nobody reads them', async (t) => {
    const text = 'x'.repeat(20_000)
    const service = await startFiles(t, {
      ...FILES, 'tools/print.ts': toolModule('print', '', `() => { console.log('${text}'); return 'ok' }`)
    })
    service.child.stdout?.pause()
    await Promise.all(Array.from({ length: 8 }, async () => {
      for (let i = 0; i < 15; i++) await call(t, service.url, 'print')
    }))
    service.child.stdout?.resume()
    await until(() => service.stdout().split(text).length - 1 === 120, 'all lines', DEADLINE_MS)
    await service.stop()
    t.equal(logLines(service).filter(({ source }) => source === 'console').length, 120, 'each is JSON')
  })

  t.test('trivet dev has one process', async (t) => {
    const catalog = await writeCatalog(t, FILES)
    const service = await startService(t, { ...environment(), TRIVET_CATALOG: catalog }, { args: ['dev'] })
    t.equal(await call(t, service.url, 'who'), String(service.child.pid))
    t.equal(await service.stop('SIGINT'), 0)
  })

  t.test('a flag sets the number too', async (t) => {
    const catalog = await writeCatalog(t, FILES)
    const service = await startService(t, { ...environment(), TRIVET_WORKERS: '' }, {
      args: ['serve', catalog, '--workers', '2']
    })
    await until(() => servingLines(service).length === 2, 'both workers', DEADLINE_MS)
    t.equal((await callAll(t, service)).length, 2)
    t.equal(await service.stop('SIGINT'), 0)
  })
}

t.test('several workers need a shared state', async (t) => {
  for (const scheme of ['memory:', 'file:']) {
    const url = scheme === 'file:' ? `file:${await makeFolder(t)}` : scheme
    const { code, stderr } = await runService({ TRIVET_WORKERS: '2', TRIVET_STATE_URL: url })
    t.equal(code, 1)
    t.match(stderr, `TRIVET_WORKERS is 2, and TRIVET_STATE_URL is ${scheme}, which is for one process.`)
  }
})

t.test('auto serves with one process where the state is for one, and says why', async (t) => {
  const service = await startService(t, {
    TRIVET_CATALOG: await writeCatalog(t, FILES),
    TRIVET_STATE_URL: `file:${await makeFolder(t)}`,
    TRIVET_WORKERS: 'auto',
    TRIVET_LOG_LEVEL: 'info'
  })
  t.equal(await call(t, service.url, 'who'), String(service.child.pid))
  t.equal(logLines(service).filter(({ msg }) => msg.startsWith('TRIVET_WORKERS is auto, and one')).length, 1)
  t.equal(await service.stop(), 0)
})
