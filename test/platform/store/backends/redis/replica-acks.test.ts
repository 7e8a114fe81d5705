// What a failover of Redis may lose. https://redis.io/docs/latest/commands/wait/

import t, { type Test } from 'tap'
import { openRedis } from '../../../../../src/platform/store/backends/redis/connection.ts'
import { ReplicaAcks } from '../../../../../src/platform/store/backends/redis/replica-acks.ts'
import { openRedisStateStore } from '../../../../../src/platform/store/backends/redis/state-store.ts'
import type { StateStore } from '../../../../../src/platform/store/records/state-store.ts'
import { until, within } from '../../../../helpers/deadline.ts'
import { startRedisFailover } from '../../../../servers/redis-failover.ts'
import { hasRedisServer, startRedisServer } from '../../../../servers/redis-server.ts'
import { textOf, toValue } from '../../../../helpers/state-value.ts'
import { countChanges, KEY, LIFETIME, QUICK_MS, unavailable } from './connect.ts'

async function open (t: Test, url: string) {
  const redis = openRedis(url, { onError () {} })
  t.teardown(async () => await redis.close())
  await redis.ready(5000)
  if (redis.isNamed === undefined) throw new TypeError('no Sentinels')
  const acks = new ReplicaAcks(redis.commands, 'trivet', redis.isNamed)
  const store = openRedisStateStore(redis.commands, { prefix: 'trivet', acks })
  t.teardown(async () => await store.close())
  return store
}

t.test('WAIT follows a write of its own connection', async (t) => {
  const sent: string[] = []
  const acks = new ReplicaAcks({
    on () {},
    async callBuffer (command) { sent.push(command) },
    async call (command) { return sent.push(command) }
  }, 'trivet', async () => true)
  await Promise.all([acks.confirm(true), acks.confirm(true)])
  t.strictSame(sent.splice(0), ['WAIT'])
  await Promise.all([acks.confirm(true), acks.confirm(false)])
  t.strictSame(sent.splice(0), ['EVALSHA', 'WAIT'], 'a write that is made for it')
  await acks.confirm(true)
  t.strictSame(sent, ['WAIT'])
})

if (hasRedisServer(t)) {
  t.test('the write that is made for WAIT is always one, and needs no memory', async (t) => {
    const server = await startRedisServer(t)
    const redis = openRedis(server.url, { onError () {} })
    t.teardown(async () => await redis.close())
    await redis.ready(5000)
    await server.cli('config', 'set', 'maxmemory', '1')
    for (const which of ['first', 'second']) {
      const before = await countChanges(server)
      await new ReplicaAcks(redis.commands, 'trivet', async () => true).confirm(false)
      t.not(await countChanges(server), before, which)
    }
  })

  t.test('a write is acknowledged when a replica has it, so a failover loses none', async (t) => {
    const { url, master, cutOffReplica, failedOver } = await startRedisFailover(t)
    const [store, other] = [await open(t, url), await open(t, url)]
    const names = Array.from({ length: 50 }, (_, index) => `n${index}`)
    await Promise.all(names.map(async (name) => {
      t.not(await store.create({ owner: 'o', name }, toValue(name), LIFETIME, 100), 'full')
    }))
    const first = await store.create(KEY, toValue('before'), LIFETIME, 100)
    if (typeof first === 'string') throw new TypeError(first)
    t.equal(await other.confirm(KEY, first.version), true)

    cutOffReplica()
    const late = unavailable(/none of the 1 replicas of Redis has the write after 500 ms/)
    const actsOf = (one: StateStore): ReadonlyArray<() => Promise<unknown>> => [
      async () => await one.replace(KEY, first.version, toValue('lost')),
      async () => await one.delete({ owner: 'o', name: 'n0' }),
      async () => await one.create({ owner: 'o', name: 'new' }, toValue('lost'), LIFETIME, 100)
    ]
    // The second time each finds its work done, and waits for the replica as well. So does a connection that
    // has written nothing itself.
    for (const act of [...actsOf(store), ...actsOf(store), ...actsOf(other)]) {
      await t.rejects(within(act(), 'an answer without the replica', QUICK_MS), late)
    }
    const lost = await store.read(KEY)
    t.equal(textOf(lost), 'lost', 'the master has the write all the same')
    for (const version of [lost?.version ?? '', first.version]) {
      const confirming = other.confirm(KEY, version)
      await t.rejects(within(confirming, 'a confirmation without the replica', QUICK_MS), late)
    }
    await master.kill()
    await failedOver()
    await until(async () => await store.check().then(() => true, () => false), 'the new master', 10_000)
    t.equal(textOf(await store.read(KEY)), 'before')
    t.equal(await store.confirm(KEY, lost?.version ?? ''), false, 'the new master never had it')
    t.equal(await store.confirm(KEY, first.version), true)
    for (const name of names) t.equal(textOf(await store.read({ owner: 'o', name })), name)

    t.not(await store.replace(KEY, first.version, toValue('alone')), undefined, 'without replicas')
  })
}
