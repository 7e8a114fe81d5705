import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { openRedis } from '../../../../../src/platform/store/backends/redis/connection.ts'
import { within } from '../../../../helpers/deadline.ts'

t.test('the error for an unreachable Redis has the host and the port, and no password', async (t) => {
  const errors: unknown[] = []
  const redis = openRedis('redis://:hunter2@127.0.0.1:1', { onError: (error) => { errors.push(error) } })
  t.teardown(async () => await redis.close())
  const message = /^TRIVET_STATE_URL: no Redis is reachable at 127\.0\.0\.1:1 (?!.*hunter2)/
  await t.rejects(redis.ready(300), { message, cause: { name: 'RedisError', code: 'ECONNREFUSED' } })
  t.ok(errors.length > 1, 'each attempt of each connection is told')
})

t.test('closing ends the attempts to connect, and is idempotent', async (t) => {
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
