import t from 'tap'
import { openRedis } from '../../../src/backends/redis/connection.ts'
import { createRedisEventLog } from '../../../src/backends/redis/event-log.ts'
import { checkEventLog } from '../../contracts/event-log-contract.ts'
import { hasRedisServer, startRedisServer } from '../../helpers/redis-server.ts'

if (hasRedisServer(t)) {
  const server = await startRedisServer(t)
  const redis = openRedis(server.url, { onError () {} })
  t.teardown(async () => await redis.close())
  await redis.ready(5000)

  checkEventLog(t, async (limits) => createRedisEventLog(redis.commands, { prefix: 'trivet', ...limits }))
}
