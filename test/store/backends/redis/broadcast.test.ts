import { isDeepStrictEqual } from 'node:util'
import { Cluster } from 'ioredis'
import t, { type Test } from 'tap'
import { readRedisUrl } from '../../../../src/store/backends/redis/address.ts'
import { openRedisBroadcast } from '../../../../src/store/backends/redis/broadcast.ts'
import { ClusterSubscriber } from '../../../../src/store/backends/redis/cluster-subscriber.ts'
import { openRedis } from '../../../../src/store/backends/redis/connection.ts'
import type { Broadcast, ReplicaMessage } from '../../../../src/store/changes/broadcast.ts'
import type { ChangeEvent } from '../../../../src/store/changes/change-event.ts'
import { checkBroadcast } from '../../../contracts/broadcast-contract.ts'
import { until, within } from '../../../helpers/deadline.ts'
import {
  hasRedisServer, startRedisCluster, startRedisServer, type RedisServer
} from '../../../servers/redis-server.ts'
import { openSlots } from '../../../servers/redis-slots.ts'

type OnError = (error: unknown) => void

const CHANNEL = 'trivet:broadcast'

async function connect (t: Test, url: string, onError: OnError = () => {}): Promise<Broadcast> {
  return (await connectBreakable(t, url, onError)).broadcast
}

/** Also returns the connection for commands, which a test may break. */
async function connectBreakable (t: Test, url: string, onError: OnError = () => {}) {
  const redis = openRedis(url, { onError () {} })
  t.teardown(async () => await redis.close())
  await redis.ready(5000)
  const broadcast = await openRedisBroadcast(redis, { channel: CHANNEL, onError })
  t.teardown(async () => await broadcast.close())
  return { broadcast, commands: redis.commands }
}

function hearEvents (broadcast: Broadcast): ChangeEvent[] {
  const heard: ChangeEvent[] = []
  broadcast.subscribe((event) => { heard.push(event) })
  return heard
}

interface Listening { readonly heard: ReplicaMessage[], readonly missed: () => number }

function hearMessages (broadcast: Broadcast): Listening {
  const heard: ReplicaMessage[] = []
  let missed = 0
  broadcast.listen((message) => { heard.push(message) }, () => { missed++ })
  return { heard, missed: () => missed }
}

const isMissed = ({ type }: ChangeEvent) => type === 'events-missed'
const isUpdate = ({ type }: ChangeEvent) => type === 'resource-updated'
const updated = (index: number): ChangeEvent => ({ type: 'resource-updated', uri: `a://${index}` })
const numbered = (number: number): ReplicaMessage => ({ type: 'test-numbered', number })

async function publishTexts (server: RedisServer, texts: readonly string[]): Promise<void> {
  for (const text of texts) await server.cli('publish', CHANNEL, text)
}

const UNREADABLE = { name: 'TypeError', message: /^a message on trivet:broadcast (?!.*canary)/ }

if (hasRedisServer(t)) {
  const server = await startRedisServer(t)

  checkBroadcast(t, async () => await connect(t, server.url))

  t.test('each event reaches every replica once, in order', async (t) => {
    const [here, there] = [await connect(t, server.url), await connect(t, server.url)]
    const [heardHere, heardThere] = [hearEvents(here), hearEvents(there)]
    const events = Array.from({ length: 100 }, (_, index) => updated(index))
    for (const event of events) await here.publish(event)
    await there.publish({ type: 'tools-changed' })
    await until(() => heardHere.length > 100 && heardThere.length > 100, 'all events')
    t.strictSame(heardHere, [...events, { type: 'tools-changed' }])
    t.strictSame(heardThere.filter(isUpdate), events)
    t.equal(heardThere.length, 101)
  })

  t.test('each message reaches every replica once and in order, the sending one too', async (t) => {
    const [here, there] = [await connect(t, server.url), await connect(t, server.url)]
    const [hears, hearsThere] = [hearMessages(here), hearMessages(there)]
    const messages = Array.from({ length: 100 }, (_, index) => numbered(index))
    for (const message of messages) await here.send(message)
    await there.send({ type: 'last' })
    await until(() => hears.heard.length > 100 && hearsThere.heard.length > 100, 'all messages')
    t.strictSame(hears.heard, [...messages, { type: 'last' }])
    t.strictSame(hearsThere.heard.filter(({ type }) => type !== 'last'), messages)
    t.equal(hearsThere.heard.length, 101)
  })

  t.test('each type of event arrives elsewhere as it was published', async (t) => {
    const [here, there] = [await connect(t, server.url), await connect(t, server.url)]
    const heard = hearEvents(there)
    const events: ChangeEvent[] = [
      { type: 'tools-changed' }, { type: 'prompts-changed', seenBy: [['a', 'b'], ['c']] },
      { type: 'resources-outdated' }, { type: 'resources-outdated', templates: ['a://{id}'] }, updated(1),
      { type: 'resource-updated', uri: 'a://2', owner: 'o', seenBy: [['a']] },
      { type: 'task-changed', entry: 'o/n', isOver: true }, { type: 'resources-changed' }
    ]
    for (const event of events) await here.publish(event)
    await until(() => heard.length === events.length, 'all events')
    t.strictSame(heard, events)
  })

  t.test('after an outage listeners get events-missed, then events', { timeout: 60_000 }, async (t) => {
    const own = await startRedisServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const [heardHere, heardThere] = [hearEvents(here), hearEvents(there)]
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

  t.test('without Redis sending rejects, and later listeners are told', { timeout: 60_000 }, async (t) => {
    const own = await startRedisServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const [hears, hearsThere] = [hearMessages(here), hearMessages(there)]
    await own.kill()
    await t.rejects(within(here.send(numbered(1)), 'an answer without Redis', 2500))
    t.strictSame(hears.heard, [numbered(1)], 'its own replica has it all the same')
    await own.restart()
    await until(() => hears.missed() > 0 && hearsThere.missed() > 0, 'both to be told', 10_000)
    await here.send(numbered(2))
    await until(() => hearsThere.heard.length > 0, 'a message after the outage')
    t.strictSame(hearsThere.heard, [numbered(2)])
  })

  t.test('publishing to a hanging Redis reports the error, and resolves', { timeout: 60_000 }, async (t) => {
    const own = await startRedisServer(t)
    const errors: unknown[] = []
    const here = await connect(t, own.url, (error) => { errors.push(error) })
    const there = await connect(t, own.url)
    const heard = hearEvents(there)
    own.freeze()
    await t.resolves(within(here.publish({ type: 'prompts-changed' }), 'publishing', 2500))
    t.match(errors, [{ message: /timed out/ }])
    own.thaw()
    await until(() => heard.some(isMissed), 'the other replica to hear of it', 10_000)
  })

  t.test('listeners of a disconnected subscriber are told once', { timeout: 60_000 }, async (t) => {
    const own = await startRedisServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const [heardHere, heardThere] = [hearEvents(here), hearEvents(there)]
    const [hears, hearsThere] = [hearMessages(here), hearMessages(there)]
    await own.cli('client', 'kill', 'type', 'pubsub')
    await until(() => heardHere.length > 0 && heardThere.length > 0, 'both to hear of it')
    await here.publish(updated(1))
    await until(() => heardThere.length > 1, 'an event afterwards')
    t.strictSame(heardHere, [{ type: 'events-missed' }, updated(1)])
    t.strictSame(heardThere, heardHere)
    t.strictSame([hears.missed(), hearsThere.missed()], [1, 1])
  })

  t.test('a message that could not be sent: replicas that were connected are told', async (t) => {
    const { broadcast: here, commands } = await connectBreakable(t, server.url)
    const there = await connect(t, server.url)
    const [hears, hearsThere] = [hearMessages(here), hearMessages(there)]
    const events = hearEvents(there)
    for (let time = 1; time <= 2; time++) {
      commands.disconnect(true)
      await t.rejects(here.send(numbered(time)))
      await until(() => hearsThere.missed() === time, 'the other to be told')
    }
    t.strictSame(hearsThere.heard, [])
    t.equal(hears.missed(), 0, 'the sender missed nothing')
    await here.send(numbered(3))
    await until(() => hearsThere.heard.length > 0, 'a message afterwards')
    t.strictSame(hearsThere.heard, [numbered(3)])
    t.strictSame(events, [], 'no event was missed')
  })

  t.test('an event that could not be sent: replicas that were connected are told', async (t) => {
    const { broadcast: here, commands } = await connectBreakable(t, server.url)
    const there = await connect(t, server.url)
    const [heardHere, heardThere] = [hearEvents(here), hearEvents(there)]
    const { missed } = hearMessages(there)
    commands.disconnect(true)
    await here.publish(updated(1))
    await until(() => heardThere.length > 0, 'the other to be told')
    t.strictSame(heardThere, [{ type: 'events-missed' }])
    t.strictSame(heardHere, [updated(1)])
    t.equal(missed(), 0, 'no message was missed')
  })

  t.test('a text that is no event is reported without its content, and reaches no listener', async (t) => {
    const errors: unknown[] = []
    const heard = hearEvents(await connect(t, server.url, (error) => { errors.push(error) }))
    const odd = [
      '', 'canary', 'x canary', 'x null', 'x ["canary"]', 'x {"canary":{}}', 'x {"event":"canary"}',
      'x {"event":null}', 'x {"event":{"type":"canary"}}', 'x {"missed":"canary"}', 'x {"missed":[1]}',
      'x {"event":{"type":"resource-updated","uri":{"canary":1}}}',
      'x {"event":{"type":"tools-changed","seenBy":["canary"]}}',
      'x {"event":{"type":"tools-changed","seenBy":[["canary",1]]}}',
      'x {"event":{"type":"resources-outdated","templates":["canary",1]}}'
    ]
    await publishTexts(server, [...odd, 'x {"event":{"type":"tools-changed"}}'])
    await until(() => heard.length > 0, 'the event after them')
    t.strictSame(heard, [{ type: 'tools-changed' }])
    t.equal(errors.length, odd.length)
    for (const error of errors) t.match(error, UNREADABLE)
  })

  t.test('a text that is no message is reported without its content, and reaches no listener', async (t) => {
    const errors: unknown[] = []
    const { heard } = hearMessages(await connect(t, server.url, (error) => { errors.push(error) }))
    const odd = [
      '', 'canary', 'x canary', 'x "canary"', 'x null', 'x ["canary"]', 'x {"message":"canary"}',
      'x {"message":null}', 'x {"message":["canary"]}', 'x {"message":{"canary":1}}',
      'x {"message":{"type":{"canary":1}}}'
    ]
    await publishTexts(server, [...odd, 'x {"message":{"type":"of a later release","more":[1]}}'])
    await until(() => heard.length > 0, 'the message after them')
    t.strictSame(heard, [{ type: 'of a later release', more: [1] }])
    t.equal(errors.length, odd.length)
    for (const error of errors) t.match(error, UNREADABLE)
  })

  t.test('a listener that throws affects no listener and no publisher elsewhere', async (t) => {
    const errors: unknown[] = []
    const here = await connect(t, server.url)
    const there = await connect(t, server.url, (error) => { errors.push(error) })
    const fail = () => { throw new Error('a listener of the test fails') }
    here.subscribe(fail)
    there.subscribe(fail)
    const heard = hearEvents(there)
    await t.rejects(here.publish(updated(1)))
    await until(() => heard.length > 0, 'the event')
    t.strictSame(heard, [updated(1)])
    t.match(errors, [{ name: 'AggregateError' }])
  })

  t.test('a listener that throws affects neither other replicas nor their senders', async (t) => {
    const errors: unknown[] = []
    const here = await connect(t, server.url)
    const there = await connect(t, server.url, (error) => { errors.push(error) })
    const fail = () => { throw new Error('a listener of the test fails') }
    const stop = here.listen(fail)
    there.listen(fail)
    const { heard } = hearMessages(there)
    await t.rejects(here.send(numbered(1)))
    stop()
    await t.resolves(here.send(numbered(2)))
    await until(() => heard.length === 2, 'both messages')
    t.strictSame(heard, [numbered(1), numbered(2)])
    t.match(errors, [{ name: 'AggregateError' }, { name: 'AggregateError' }])
  })

  t.test('a listener that throws at events-missed does not keep the others from being told', async (t) => {
    const own = await startRedisServer(t)
    const errors: unknown[] = []
    const broadcast = await connect(t, own.url, (error) => { errors.push(error) })
    broadcast.subscribe(() => { throw new Error('a listener of the test fails') })
    const { missed } = hearMessages(broadcast)
    await own.cli('client', 'kill', 'type', 'pubsub')
    await until(() => missed() === 1, 'the listener of messages to be told')
    t.match(errors, [{ name: 'AggregateError' }])
  })

  t.test('does not open if Redis is not connected', { timeout: 60_000 }, async (t) => {
    const nowhere = openRedis('redis://127.0.0.1:1', { onError () {} })
    t.teardown(async () => await nowhere.close())
    const opening = openRedisBroadcast(nowhere, { channel: CHANNEL, onError () {} })
    await t.rejects(opening, { message: /trivet:broadcast/, cause: { message: /not connected/ } })
  })

  t.test('a cluster passes on events after an outage', { timeout: 120_000 }, async (t) => {
    const { url, nodes } = await startRedisCluster(t)
    const [here, there] = [await connect(t, url), await connect(t, url)]
    const heard = hearEvents(there)
    const heardHere = hearEvents(here)
    for (const node of nodes) await node.kill()
    await t.resolves(within(here.publish({ type: 'prompts-changed' }), 'publishing', 2500))
    for (const node of nodes) await node.restart()
    const isUp = async ({ cli }: typeof nodes[number]) => /cluster_state:ok/.test(await cli('cluster', 'info'))
    for (const node of nodes) await until(async () => await isUp(node), 'the cluster', 60_000)
    // Each replica is told once its own events arrive again.
    const areTold = () => [heard, heardHere].every((one) => one.some(isMissed))
    await until(areTold, 'both replicas to hear of it', 60_000)
    await here.publish(updated(1))
    await until(() => heard.some(isUpdate), 'an event after the outage', 10_000)
    t.strictSame(heard.filter(isUpdate), [updated(1)])
  })

  t.test('a subscriber of a cluster that stays deaf is replaced', { timeout: 120_000 }, async (t) => {
    const { url } = await startRedisCluster(t)
    const { hosts } = readRedisUrl(url)
    const redis = openRedis(url, { onError () {} })
    t.teardown(async () => await redis.close())
    await redis.ready(5000)
    const clients: Cluster[] = []
    const subscriber = new ClusterSubscriber(() => {
      const client = new Cluster([...hosts], {
        lazyConnect: true, enableOfflineQueue: false, shardedSubscribers: true, slotsRefreshInterval: 2000
      })
      clients.push(client)
      return client
    })
    t.teardown(() => subscriber.disconnect())
    subscriber.connect().catch(() => {})
    const broadcast = await openRedisBroadcast({ commands: redis.commands, subscriber }, {
      channel: CHANNEL, onError () {}
    })
    t.teardown(async () => await broadcast.close())
    const heard = hearEvents(broadcast)
    // As after a connection that was stopped while it was opened.
    const group: object = Reflect.get(clients[0] ?? {}, 'shardedSubscribers')
    Object.assign(group, { isResetting: true })
    Reflect.apply(Reflect.get(group, 'stop'), group, [])
    await until(() => heard.some(isMissed), 'the report that events may be missing', 30_000)
    await broadcast.publish(updated(1))
    await until(() => heard.some(isUpdate), 'an event')
    t.equal(clients.length, 2)
  })

  t.test('works in a cluster, also after its slot has moved', { timeout: 60_000 }, async (t) => {
    const { url, nodes } = await startRedisCluster(t)
    const [here, there] = [await connect(t, url), await connect(t, url)]
    const heard = hearEvents(there)
    await here.publish(updated(1))
    await until(() => heard.length > 0, 'the event')
    t.strictSame(heard, [updated(1)])
    await openSlots(t, nodes, 0).move(CHANNEL)
    await until(() => heard.some(isMissed), 'the report that events may be missing', 20_000)
    await here.publish(updated(2))
    await until(() => isDeepStrictEqual(heard.at(-1), updated(2)), 'an event after the move')
  })

  t.test('the time is that of Redis, also in a cluster', { timeout: 60_000 }, async (t) => {
    const { url } = await startRedisCluster(t)
    for (const broadcast of [await connect(t, server.url), await connect(t, url)]) {
      t.ok(Math.abs(await broadcast.time() - Date.now()) < 60_000)
    }
    const here = await connect(t, server.url)
    const [seconds = ''] = (await server.cli('time')).split('\n')
    t.ok(Math.abs(await here.time() - Number(seconds) * 1000) < 5000)
  })

  t.test('a message that is not JSON is refused before any listener gets it', async (t) => {
    const broadcast = await connect(t, server.url)
    const { heard } = hearMessages(broadcast)
    let nested: unknown = []
    for (let depth = 0; depth < 10_000; depth++) nested = [nested]
    await t.rejects(broadcast.send({ type: 'nested', nested }), RangeError)
    t.strictSame(heard, [])
  })
}
