import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { openRedis } from '../../../src/backends/redis/connection.ts'
import { within } from '../../helpers/deadline.ts'

t.test('a Redis that cannot be reached is named by its place, never by its password', async (t) => {
  const errors: unknown[] = []
  const redis = openRedis('redis://:hunter2@127.0.0.1:1', { onError: (error) => { errors.push(error) } })
  t.teardown(async () => await redis.close())
  const message = /^TRIVET_STATE_URL: no Redis is reachable at 127\.0\.0\.1:1 (?!.*hunter2)/
  await t.rejects(redis.ready(300), { message, cause: { name: 'RedisError', code: 'ECONNREFUSED' } })
  t.ok(errors.length > 1, 'each attempt of each connection is told')
})

t.test('closing twice is once, and ends the attempts', async (t) => {
  let attempts = 0
  const redis = openRedis('redis://127.0.0.1:1', { onError () { attempts++ } })
  await t.rejects(redis.ready(100))
  await within(Promise.all([redis.close(), redis.close()]), 'its end')
  await within(redis.close(), 'its end once more')
  const before = attempts
  // The first attempts follow each other within 200 ms.
  await setTimeout(500)
  t.equal(attempts, before)
})
