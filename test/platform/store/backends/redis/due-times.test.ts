import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openRedis } from '../../../../../src/platform/store/backends/redis/connection.ts'
import { createRedisDueTimes } from '../../../../../src/platform/store/backends/redis/due-times.ts'
import type { DueTimes } from '../../../../../src/platform/store/records/due-times.ts'
import { checkDueTimes, checkLostDueTimes } from '../../../../contracts/due-times-contract.ts'
import { countChanges } from './connect.ts'
import { hasRedisServer, startRedisCluster, startRedisServer } from '../../../../servers/redis-server.ts'

async function open (t: Test, url: string, prefix: string): Promise<DueTimes> {
  const redis = openRedis(url, { onError () {} })
  t.teardown(async () => await redis.close())
  await redis.ready(5000)
  return createRedisDueTimes(redis.commands, { prefix })
}

if (hasRedisServer(t)) {
  const server = await startRedisServer(t)
  let prefixes = 0

  checkDueTimes(t, async (t) => {
    const prefix = `contract-${++prefixes}`
    return {
      dueTimes: await open(t, server.url, prefix),
      // A timer may be early by a part of a millisecond, and the server counts whole ones.
      pass: async (ms) => { await pause(ms + 2) },
      reopen: async () => await open(t, server.url, prefix)
    }
  })

  checkLostDueTimes(t, async (t) => {
    const own = await startRedisServer(t)
    const dueTimes = await open(t, own.url, 'trivet')
    await own.kill()
    return dueTimes
  })

  t.test('a cluster keeps them on one node', async (t) => {
    const cluster = await startRedisCluster(t)
    const dueTimes = await open(t, cluster.url, 'trivet')
    for (let i = 0; i < 20; i++) await dueTimes.set(`owner-${i}/a`, 0, 0)
    t.equal((await dueTimes.take(50, 1000)).entries.length, 20)
    t.equal((await dueTimes.list(undefined, 50)).entries.length, 20)
    t.equal((await dueTimes.peek(5, 1000)).length, 5)
  })

  t.test('a time that a later generation has set is written, so that WAIT covers it', async (t) => {
    const own = await startRedisServer(t)
    const dueTimes = await open(t, own.url, 'trivet')
    await dueTimes.set('a', 1000, 2)
    const before = await countChanges(own)
    await dueTimes.set('a', 5000, 1)
    t.not(await countChanges(own), before)
  })
}
