import { isDeepStrictEqual } from 'node:util'
import { Cluster } from 'ioredis'
import t, { type Test } from 'tap'
import { readRedisUrl } from '../../../../../src/platform/store/backends/redis/address.ts'
import { openRedisBroadcast } from '../../../../../src/platform/store/backends/redis/broadcast.ts'
import { ClusterSubscriber } from '../../../../../src/platform/store/backends/redis/cluster-subscriber.ts'
import { openRedis } from '../../../../../src/platform/store/backends/redis/connection.ts'
import type { Broadcast } from '../../../../../src/platform/store/changes/broadcast.ts'
import { checkBroadcast } from '../../../../contracts/broadcast-contract.ts'
import {
  hearEvents, hearMessages, isMissed, isUpdate, updated
} from '../../../../contracts/broadcast-listeners.ts'
import {
  checkChannelBroadcast, type BroadcastReplica
} from '../../../../contracts/channel-broadcast-contract.ts'
import { until, within } from '../../../../helpers/deadline.ts'
import {
  hasRedisServer, startRedisCluster, startRedisServer, type RedisServer
} from '../../../../servers/redis-server.ts'
import { openSlots } from '../../../../servers/redis-slots.ts'

type OnError = (error: unknown) => void

const CHANNEL = 'trivet:broadcast'
const UNREADABLE = { name: 'TypeError', message: /^a message on trivet:broadcast (?!.*canary)/ }

async function connect (t: Test, url: string, onError: OnError = () => {}): Promise<Broadcast> {
  return (await openReplica(t, url, onError)).broadcast
}

async function openReplica (t: Test, url: string, onError: OnError = () => {}): Promise<BroadcastReplica> {
  const redis = openRedis(url, { onError () {} })
  t.teardown(async () => await redis.close())
  await redis.ready(5000)
  const broadcast = await openRedisBroadcast(redis, { channel: CHANNEL, onError })
  t.teardown(async () => await broadcast.close())
  return {
    broadcast,
    async whileCut (work) {
      redis.commands.disconnect(true)
      await work()
    }
  }
}

async function publishTexts (server: RedisServer, texts: readonly string[]): Promise<void> {
  for (const text of texts) await server.cli('publish', CHANNEL, text)
}

if (hasRedisServer(t)) {
  const server = await startRedisServer(t)

  checkBroadcast(t, async () => await connect(t, server.url))

  checkChannelBroadcast(t, server, {
    channel: CHANNEL,
    silence: /timed out/,
    startServer: startRedisServer,
    open: async (t, { url }, onError) => await openReplica(t, url, onError),
    // Each text follows the name of its sender.
    sendTexts: async (server, texts) => await publishTexts(server, texts.map((text) => `x ${text}`))
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

  t.test('a text without a sender is reported without its content', async (t) => {
    const errors: unknown[] = []
    const heard = hearEvents(await connect(t, server.url, (error) => { errors.push(error) }))
    await publishTexts(server, ['', 'canary', 'x {"event":{"type":"tools-changed"}}'])
    await until(() => heard.length > 0, 'the event after them')
    t.strictSame(heard, [{ type: 'tools-changed' }])
    t.equal(errors.length, 2)
    for (const error of errors) t.match(error, UNREADABLE)
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

  t.test('the time of a cluster is that of its nodes', { timeout: 60_000 }, async (t) => {
    const { url } = await startRedisCluster(t)
    const broadcast = await connect(t, url)
    t.ok(Math.abs(await broadcast.time() - Date.now()) < 60_000)
  })
}
