import t from 'tap'
import { COMMAND_TIMEOUT_MS, openRedis } from '../../../../src/store/backends/redis/connection.ts'
import { hasRedisServer, startRedisServer } from '../../../servers/redis-server.ts'

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
    block(COMMAND_TIMEOUT_MS + 300)
    t.equal(await answer, 'PONG')
    freeze()
    await t.rejects(redis.commands.ping(), { message: 'Command timed out' })
  })
}
