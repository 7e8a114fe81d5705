import t from 'tap'
import { ANSWER_MS } from '../../../../../src/platform/store/backends/answer-time.ts'
import { openRedis } from '../../../../../src/platform/store/backends/redis/connection.ts'
import { until } from '../../../../helpers/deadline.ts'
import { hasRedisServer, startRedisServer } from '../../../../servers/redis-server.ts'

/** Keeps the event loop from everything else. */
function block (ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

if (hasRedisServer(t)) {
  t.test('an answer that came during a pause of the event loop is not late', async (t) => {
    const { url, freeze } = await startRedisServer(t)
    const redis = openRedis(url, { onError () {} })
    t.teardown(async () => await redis.close())
    await redis.ready(5000)
    const answer = redis.commands.ping()
    block(ANSWER_MS + 300)
    t.equal(await answer, 'PONG')
    freeze()
    await t.rejects(redis.commands.ping(), { message: 'Command timed out' })
  })
  t.test('of commands one after the other only the first waits, until one is answered', async (t) => {
    const { url, freeze, thaw } = await startRedisServer(t)
    const redis = openRedis(url, { onError () {} })
    t.teardown(async () => await redis.close())
    await redis.ready(5000)
    const took = async () => {
      const begun = performance.now()
      await t.rejects(redis.commands.ping(), { message: 'Command timed out' })
      return performance.now() - begun
    }
    freeze()
    const first = await took()
    const next = await took()
    t.ok(first >= ANSWER_MS - 5, `the first waits for ${first} ms`)
    t.ok(next < ANSWER_MS - 200, `the next waits for ${next} ms`)
    thaw()
    await until(async () => await redis.commands.ping().then(() => true, () => false), 'an answer')
    freeze()
    const later = await took()
    t.ok(later >= ANSWER_MS - 5, `after an answer one waits for ${later} ms`)
  })
}
