import t, { type Test } from 'tap'
import { openRedis } from '../../../../src/store/backends/redis/connection.ts'
import { openRedisEventBus } from '../../../../src/store/backends/redis/event-bus.ts'
import type { ChangeEvent } from '../../../../src/store/changes/change-event.ts'
import type { EventBus } from '../../../../src/store/changes/event-bus.ts'
import { checkEventBus } from '../../../contracts/event-bus-contract.ts'
import { until, within } from '../../../helpers/deadline.ts'
import { hasRedisServer, startRedisCluster, startRedisServer } from '../../../helpers/redis-server.ts'

type OnError = (error: unknown) => void

async function connect (t: Test, url: string, onError: OnError = () => {}): Promise<EventBus> {
  const redis = openRedis(url, { onError () {} })
  t.teardown(async () => await redis.close())
  await redis.ready(5000)
  const bus = await openRedisEventBus(redis, { channel: 'trivet:events', onError })
  t.teardown(async () => await bus.close())
  return bus
}

function listen (bus: EventBus): ChangeEvent[] {
  const heard: ChangeEvent[] = []
  bus.subscribe((event) => { heard.push(event) })
  return heard
}

const isMissed = ({ type }: ChangeEvent) => type === 'events-missed'
const isUpdate = ({ type }: ChangeEvent) => type === 'resource-updated'
const updated = (index: number): ChangeEvent => ({ type: 'resource-updated', uri: `a://${index}` })

if (hasRedisServer(t)) {
  const server = await startRedisServer(t)

  checkEventBus(t, async () => await connect(t, server.url))

  t.test('each event reaches every replica once, in order', async (t) => {
    const [here, there] = [await connect(t, server.url), await connect(t, server.url)]
    const [heardHere, heardThere] = [listen(here), listen(there)]
    const events = Array.from({ length: 100 }, (_, index) => updated(index))
    for (const event of events) await here.publish(event)
    await there.publish({ type: 'tools-changed' })
    await until(() => heardHere.length > 100 && heardThere.length > 100, 'all events')
    t.strictSame(heardHere, [...events, { type: 'tools-changed' }])
    t.strictSame(heardThere.filter(isUpdate), events)
    t.equal(heardThere.length, 101)
  })

  t.test('after an outage listeners get events-missed, then events', { timeout: 60_000 }, async (t) => {
    const own = await startRedisServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const [heardHere, heardThere] = [listen(here), listen(there)]
    t.equal(here.isConnected, true)
    await own.kill()
    await until(() => !here.isConnected && !there.isConnected, 'both to notice the outage')
    await within(here.publish({ type: 'prompts-changed' }), 'publishing without Redis')
    t.strictSame(heardHere, [{ type: 'prompts-changed' }], 'its own replica is told all the same')
    await own.restart()
    await until(() => heardHere.some(isMissed) && heardThere.some(isMissed), 'both to hear of it', 10_000)
    await until(() => here.isConnected && there.isConnected, 'both to be connected')
    await here.publish(updated(1))
    await until(() => heardThere.some(isUpdate), 'an event after the outage')
  })

  t.test('publishing to a hanging Redis reports the error, and resolves', { timeout: 60_000 }, async (t) => {
    const own = await startRedisServer(t)
    const errors: unknown[] = []
    const here = await connect(t, own.url, (error) => { errors.push(error) })
    const there = await connect(t, own.url)
    const heard = listen(there)
    own.freeze()
    await t.resolves(within(here.publish({ type: 'prompts-changed' }), 'publishing', 2500))
    t.match(errors, [{ message: /timed out/ }])
    own.thaw()
    await until(() => heard.some(isMissed), 'the other replica to hear of it', 10_000)
  })

  t.test('a disconnected subscriber returns, with one events-missed', { timeout: 60_000 }, async (t) => {
    const own = await startRedisServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const [heardHere, heardThere] = [listen(here), listen(there)]
    await own.cli('client', 'kill', 'type', 'pubsub')
    await until(() => heardHere.length > 0 && heardThere.length > 0, 'both to hear of it')
    await here.publish(updated(1))
    await until(() => heardThere.length > 1, 'an event afterwards')
    t.strictSame(heardHere, [{ type: 'events-missed' }, updated(1)])
    t.strictSame(heardThere, heardHere)
  })

  t.test('a message that is no event is reported, and reaches no listener', async (t) => {
    const errors: unknown[] = []
    const bus = await connect(t, server.url, (error) => { errors.push(error) })
    const heard = listen(bus)
    const odd = [
      '', 'canary', 'x canary', 'x null', 'x ["canary"]', 'x {"type":"canary"}',
      'x {"type":"resource-updated","uri":{"canary":1}}', 'x {"type":"tools-changed","seenBy":["canary"]}',
      'x {"type":"tools-changed","seenBy":[["canary",1]]}',
      'x {"type":"resources-outdated","templates":["canary",1]}'
    ]
    for (const message of odd) await server.cli('publish', 'trivet:events', message)
    await server.cli('publish', 'trivet:events', 'x {"type":"tools-changed"}')
    await until(() => heard.length > 0, 'the event after them')
    t.strictSame(heard, [{ type: 'tools-changed' }])
    t.equal(errors.length, odd.length)
    const message = /^a message on trivet:events (?!.*canary)/
    for (const error of errors) t.match(error, { name: 'TypeError', message })
  })

  t.test('a listener that throws affects no listener and no publisher elsewhere', async (t) => {
    const errors: unknown[] = []
    const here = await connect(t, server.url)
    const there = await connect(t, server.url, (error) => { errors.push(error) })
    const fail = () => { throw new Error('a listener of the test fails') }
    here.subscribe(fail)
    there.subscribe(fail)
    const heard = listen(there)
    await t.rejects(here.publish(updated(1)))
    await until(() => heard.length > 0, 'the event')
    t.strictSame(heard, [updated(1)])
    t.match(errors, [{ name: 'AggregateError' }])
  })

  t.test('does not open if Redis is not connected', { timeout: 60_000 }, async (t) => {
    const nowhere = openRedis('redis://127.0.0.1:1', { onError () {} })
    t.teardown(async () => await nowhere.close())
    const opening = openRedisEventBus(nowhere, { channel: 'trivet:events', onError () {} })
    await t.rejects(opening, { message: /trivet:events/, cause: { message: /not connected/ } })
  })

  t.test('a cluster passes on events after an outage', { timeout: 120_000 }, async (t) => {
    const { url, nodes } = await startRedisCluster(t)
    const [here, there] = [await connect(t, url), await connect(t, url)]
    const heard = listen(there)
    const heardHere = listen(here)
    for (const node of nodes) await node.kill()
    await t.resolves(within(here.publish({ type: 'prompts-changed' }), 'publishing', 2500))
    for (const node of nodes) await node.restart()
    // Each replica is told once its own events arrive again.
    const areTold = () => [heard, heardHere].every((one) => one.some(isMissed))
    await until(areTold, 'both replicas to hear of it', 30_000)
    await here.publish(updated(1))
    await until(() => heard.some(isUpdate), 'an event after the outage', 10_000)
    t.strictSame(heard.filter(isUpdate), [updated(1)])
  })

  t.test('works in a cluster', { timeout: 60_000 }, async (t) => {
    const { url } = await startRedisCluster(t)
    const [here, there] = [await connect(t, url), await connect(t, url)]
    const heard = listen(there)
    await here.publish(updated(1))
    await until(() => heard.length > 0, 'the event')
    t.strictSame(heard, [updated(1)])
  })
}
