// What a failover of Redis may lose. https://redis.io/docs/latest/commands/wait/

import t, { type Test } from 'tap'
import { openRedis } from '../../../../src/store/backends/redis/connection.ts'
import { createReplicaAcks } from '../../../../src/store/backends/redis/replica-acks.ts'
import { openRedisStateStore } from '../../../../src/store/backends/redis/state-store.ts'
import { until, within } from '../../../helpers/deadline.ts'
import { startRedisFailover } from '../../../servers/redis-failover.ts'
import { hasRedisServer } from '../../../servers/redis-server.ts'
import { textOf, toValue } from '../../../helpers/state-value.ts'
import { KEY, LIFETIME, QUICK_MS, unavailable } from './connect.ts'

async function open (t: Test, url: string) {
  const redis = openRedis(url, { onError () {} })
  t.teardown(async () => await redis.close())
  await redis.ready(5000)
  t.equal(redis.hasFailover, true)
  const store = openRedisStateStore(redis.commands, {
    prefix: 'trivet', acks: createReplicaAcks(redis.commands)
  })
  t.teardown(async () => await store.close())
  return store
}

if (hasRedisServer(t)) {
  t.test('a write is acknowledged when a replica has it, so a failover loses none', async (t) => {
    const { url, master, cutOffReplica, failedOver } = await startRedisFailover(t)
    const store = await open(t, url)
    const names = Array.from({ length: 50 }, (_, index) => `n${index}`)
    await Promise.all(names.map(async (name) => {
      t.not(await store.create({ owner: 'o', name }, toValue(name), LIFETIME, 100), 'full')
    }))
    const first = await store.create(KEY, toValue('before'), LIFETIME, 100)
    if (typeof first === 'string') throw new TypeError(first)

    cutOffReplica()
    const late = unavailable(/none of the 1 replicas of Redis has the write after 500 ms/)
    const acts: ReadonlyArray<() => Promise<unknown>> = [
      async () => await store.replace(KEY, first.version, toValue('lost')),
      async () => await store.delete({ owner: 'o', name: 'n0' }),
      async () => await store.create({ owner: 'o', name: 'new' }, toValue('lost'), LIFETIME, 100)
    ]
    // The second time each finds its work done, and waits for the replica as well.
    for (const act of [...acts, ...acts]) {
      await t.rejects(within(act(), 'an answer without the replica', QUICK_MS), late)
    }
    t.equal(textOf(await store.read(KEY)), 'lost', 'the master has the write all the same')
    await master.kill()
    await failedOver()
    await until(async () => await store.check().then(() => true, () => false), 'the new master', 10_000)
    t.equal(textOf(await store.read(KEY)), 'before')
    for (const name of names) t.equal(textOf(await store.read({ owner: 'o', name })), name)

    t.not(await store.replace(KEY, first.version, toValue('alone')), undefined, 'without replicas')
  })
}
