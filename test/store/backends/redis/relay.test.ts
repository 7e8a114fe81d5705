import t, { type Test } from 'tap'
import { openRedis } from '../../../../src/store/backends/redis/connection.ts'
import { openRedisRelay } from '../../../../src/store/backends/redis/relay.ts'
import type { Relay, RelayMessage } from '../../../../src/store/changes/relay.ts'
import { checkRelay } from '../../../contracts/relay-contract.ts'
import { until, within } from '../../../helpers/deadline.ts'
import { hasRedisServer, startRedisCluster, startRedisServer } from '../../../helpers/redis-server.ts'

async function connect (t: Test, url: string, onError: (error: unknown) => void = () => {}): Promise<Relay> {
  const redis = openRedis(url, { onError () {} })
  t.teardown(async () => await redis.close())
  await redis.ready(5000)
  const relay = await openRedisRelay(redis, { channel: 'trivet:sessions', onError })
  t.teardown(async () => await relay.close())
  return relay
}

interface Listening { readonly heard: RelayMessage[], readonly missed: () => number }

function listen (relay: Relay): Listening {
  const heard: RelayMessage[] = []
  let missed = 0
  relay.listen((message) => { heard.push(message) }, () => { missed++ })
  return { heard, missed: () => missed }
}

const numbered = (number: number): RelayMessage => ({ type: 'test-numbered', number })

if (hasRedisServer(t)) {
  const server = await startRedisServer(t)

  checkRelay(t, async () => await connect(t, server.url))

  t.test('each message reaches every replica once and in order, the sending one too', async (t) => {
    const [here, there] = [await connect(t, server.url), await connect(t, server.url)]
    const [hears, hearsThere] = [listen(here), listen(there)]
    const messages = Array.from({ length: 100 }, (_, index) => numbered(index))
    for (const message of messages) await here.send(message)
    await there.send({ type: 'last' })
    await until(() => hears.heard.length > 100 && hearsThere.heard.length > 100, 'all messages')
    t.strictSame(hears.heard, [...messages, { type: 'last' }])
    t.strictSame(hearsThere.heard.filter(({ type }) => type !== 'last'), messages)
    t.equal(hearsThere.heard.length, 101)
  })

  t.test('a text that is no message is reported without its content, and reaches no listener', async (t) => {
    const errors: unknown[] = []
    const { heard } = listen(await connect(t, server.url, (error) => { errors.push(error) }))
    const odd = [
      '', 'canary', 'x canary', 'x "canary"', 'x null',
      'x ["canary"]', 'x {"canary":1}', 'x {"type":{"canary":1}}'
    ]
    for (const text of odd) await server.cli('publish', 'trivet:sessions', text)
    await server.cli('publish', 'trivet:sessions', 'x {"type":"of a later release","more":[1]}')
    await until(() => heard.length > 0, 'the message after them')
    t.strictSame(heard, [{ type: 'of a later release', more: [1] }])
    t.equal(errors.length, odd.length)
    const message = /^a message on trivet:sessions (?!.*canary)/
    for (const error of errors) t.match(error, { name: 'TypeError', message })
  })

  t.test('a listener that throws affects neither other replicas nor their senders', async (t) => {
    const errors: unknown[] = []
    const here = await connect(t, server.url)
    const there = await connect(t, server.url, (error) => { errors.push(error) })
    const fail = () => { throw new Error('a listener of the test fails') }
    const stop = here.listen(fail)
    there.listen(fail)
    const { heard } = listen(there)
    await t.rejects(here.send(numbered(1)))
    stop()
    await t.resolves(here.send(numbered(2)))
    await until(() => heard.length === 2, 'both messages')
    t.strictSame(heard, [numbered(1), numbered(2)])
    t.match(errors, [{ name: 'AggregateError' }, { name: 'AggregateError' }])
  })

  t.test('without Redis sending rejects, and later listeners are told', { timeout: 60_000 }, async (t) => {
    const own = await startRedisServer(t)
    const [here, there] = [await connect(t, own.url), await connect(t, own.url)]
    const [hears, hearsThere] = [listen(here), listen(there)]
    await own.kill()
    await t.rejects(within(here.send(numbered(1)), 'an answer without Redis', 2500))
    t.strictSame(hears.heard, [numbered(1)], 'its own replica has it all the same')
    await own.restart()
    await until(() => hears.missed() > 0 && hearsThere.missed() > 0, 'both to be told', 10_000)
    await here.send(numbered(2))
    await until(() => hearsThere.heard.length > 0, 'a message after the outage')
    t.strictSame(hearsThere.heard, [numbered(2)])
  })

  t.test('a message that could not be sent: replicas that were connected are told', async (t) => {
    const redis = openRedis(server.url, { onError () {} })
    t.teardown(async () => await redis.close())
    await redis.ready(5000)
    const here = await openRedisRelay(redis, { channel: 'trivet:sessions', onError () {} })
    t.teardown(async () => await here.close())
    const there = await connect(t, server.url)
    const [hears, hearsThere] = [listen(here), listen(there)]
    for (let time = 1; time <= 2; time++) {
      redis.commands.disconnect(true)
      await t.rejects(here.send(numbered(time)))
      await until(() => hearsThere.missed() === time, 'the other to be told')
    }
    t.strictSame(hearsThere.heard, [])
    t.equal(hears.missed(), 0, 'the sender missed nothing')
    await here.send(numbered(3))
    await until(() => hearsThere.heard.length > 0, 'a message afterwards')
    t.strictSame(hearsThere.heard, [numbered(3)])
  })

  t.test('the time is that of Redis, also in a cluster', { timeout: 60_000 }, async (t) => {
    const { url } = await startRedisCluster(t)
    for (const relay of [await connect(t, server.url), await connect(t, url)]) {
      t.ok(Math.abs(await relay.time() - Date.now()) < 60_000)
    }
    const here = await connect(t, server.url)
    const [seconds = ''] = (await server.cli('time')).split('\n')
    t.ok(Math.abs(await here.time() - Number(seconds) * 1000) < 5000)
  })

  t.test('a message that is not JSON is refused before any listener gets it', async (t) => {
    const relay = await connect(t, server.url)
    const { heard } = listen(relay)
    let nested: unknown = []
    for (let depth = 0; depth < 10_000; depth++) nested = [nested]
    await t.rejects(relay.send({ type: 'nested', nested }), RangeError)
    t.strictSame(heard, [])
  })
}
