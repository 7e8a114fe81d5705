import t from 'tap'
import { createPostgresEventLog } from '../../../../../src/platform/store/backends/postgres/event-log.ts'
import { createSweep } from '../../../../../src/platform/store/backends/postgres/sweep.ts'
import { checkEventLog } from '../../../../contracts/event-log-contract.ts'
import { until } from '../../../../helpers/deadline.ts'
import { hasPostgresServer, startPostgresServer } from '../../../../servers/postgres-server.ts'
import { openPool } from './connect.ts'

const LIMITS = { maxEvents: 5, ttlMs: 60_000 }

if (hasPostgresServer(t)) {
  const server = await startPostgresServer(t)
  const { pool, names } = await openPool(t, server.url)

  checkEventLog(t, async (limits) => createPostgresEventLog(pool, { names, ...limits }))

  t.test('events of one stream keep their order, also when all are sent at once', async (t) => {
    const log = createPostgresEventLog(pool, { names, maxEvents: 1000, ttlMs: 60_000 })
    const events = Array.from({ length: 900 }, (_, index) => ({ position: index + 1, text: `${index}` }))
    await Promise.all(events.map(async (event) => await log.append('s.ordered', event)))
    t.strictSame(await log.read('s.ordered', 0), events)
  })

  t.test('the streams of one process have a limit together: the oldest are deleted', async (t) => {
    const own = await openPool(t, server.url, 'bounded')
    const log = createPostgresEventLog(own.pool, { names: own.names, ...LIMITS, maxBytes: 1000 })
    const kept = async () => (await server.sql('SELECT stream FROM bounded.streams ORDER BY 1')).flat()
    const append = async (stream: string, position: number, length: number) => {
      await log.append(stream, { position, text: 'x'.repeat(length) })
    }
    for (let stream = 1; stream <= 30; stream++) await append(`s${stream + 100}`, 1, 300)
    t.strictSame(await kept(), ['s128', 's129', 's130'])
    await append('s128', 2, 300)
    t.strictSame(await kept(), ['s128', 's130'], 'the stream whose last event is the oldest is deleted')
    await append('huge', 1, 5000)
    t.strictSame(await kept(), ['huge'], 'one event may be larger than the limit')
    t.equal((await server.sql('SELECT FROM bounded.events')).length, 1)
  })

  t.test('expired streams are removed with their events', async (t) => {
    const own = await openPool(t, server.url, 'swept')
    const log = createPostgresEventLog(own.pool, { names: own.names, maxEvents: 5, ttlMs: 30 })
    for (let stream = 0; stream < 20; stream++) await log.append(`s${stream}`, { position: 1, text: 'x' })
    const lasting = createPostgresEventLog(own.pool, { names: own.names, ...LIMITS })
    await lasting.append('lasting', { position: 1, text: 'x' })
    await until(async () => await log.read('s19', 0) === undefined, 'the last one to expire')
    const sweep = createSweep(own.pool, own.names, { onError: t.error })
    t.teardown(async () => await sweep.close())
    await sweep.sweep()
    t.strictSame(await server.sql('SELECT stream FROM swept.events'), [['lasting']])
    t.strictSame(await server.sql('SELECT stream FROM swept.streams'), [['lasting']])
  })

  t.test('a crash of the server forgets the streams, and appending goes on', async (t) => {
    const own = await startPostgresServer(t)
    const { pool, names } = await openPool(t, own.url)
    const log = createPostgresEventLog(pool, { names, ...LIMITS })
    await log.append('s', { position: 1, text: 'x' })
    await own.kill()
    await t.rejects(log.append('s', { position: 2, text: 'x' }))
    await own.restart()
    await until(async () => await log.read('s', 0).then(() => true, () => false), 'the server')
    t.equal(await log.read('s', 0), undefined)
    await log.append('s', { position: 3, text: 'x' })
    t.strictSame(await log.read('s', 0), [{ position: 3, text: 'x' }])
  })

  t.test('writes and the sweep of the same streams do not wait for each other in a circle', async (t) => {
    const impatient = await startPostgresServer(t, { settings: ["deadlock_timeout = '50ms'"] })
    const problems: string[] = []
    const note = (error: unknown) => { problems.push(String(error)) }
    const open = async (maxBytes: number) => {
      const own = await openPool(t, impatient.url, 'circle')
      const sweep = createSweep(own.pool, own.names, { onError: note })
      t.teardown(async () => await sweep.close())
      const limits = { names: own.names, maxEvents: 2, ttlMs: 5, maxBytes }
      return { sweep, log: createPostgresEventLog(own.pool, limits) }
    }
    // The second one removes streams because it has no room.
    const replicas = await Promise.all([1_000_000, 500].map(open))
    let position = 0
    const endsAt = performance.now() + 3000
    await Promise.all(replicas.flatMap(({ log, sweep }) => [
      (async () => { while (performance.now() < endsAt) await sweep.sweep() })(),
      (async () => {
        while (performance.now() < endsAt) {
          await Promise.all(Array.from({ length: 60 }, async (_, index) => (
            await log.append(`s${index % 30}`, { position: ++position, text: 'x'.repeat(200) }).catch(note)
          )))
        }
      })()
    ]))
    t.strictSame(problems, [])
  })
}
