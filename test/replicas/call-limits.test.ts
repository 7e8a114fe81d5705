// Limits of calls over three replicas with one Redis, and while Redis is away.

import t, { type Test } from 'tap'
import { toolModule, writeCatalog } from '../helpers/catalog-folder.ts'
import { until } from '../helpers/deadline.ts'
import { hasRedisServer, startRedisServer, type RedisServer } from '../servers/redis-server.ts'
import { startService, type Service } from '../helpers/service.ts'
import { post } from '../helpers/stream.ts'

const CALLS = 1000
/** For all of them: the replicas and this client share the machine. */
const DEADLINE_MS = 30_000

async function startThree (t: Test, redis: RedisServer): Promise<Service[]> {
  const catalog = await writeCatalog(t, {
    'tools/any.ts': toolModule('any'), 'tools/few.ts': toolModule('few', "limits: { allCalls: '10/1h' }")
  })
  return await Promise.all([1, 2, 3].map(async () => await startService(t, {
    TRIVET_CATALOG: catalog,
    TRIVET_WATCH: 'off',
    TRIVET_STATE_URL: redis.url,
    TRIVET_SECRETS: 'the secret that all three replicas have',
    TRIVET_MAX_CALLS_PER_CALLER: '100/1h'
  })))
}

/** Calls the tool on all replicas at once, and returns how many calls were served. */
async function countServed (
  t: Test, replicas: readonly Service[], name: string, calls: number
): Promise<number> {
  const texts = await Promise.all(Array.from({ length: calls }, async (_, index) => {
    const { response } = await post(t, replicas[index % replicas.length]?.url ?? '', {
      method: 'tools/call', params: { name, arguments: {} }
    }, { deadlineMs: DEADLINE_MS })
    return response.result.content[0].text
  }))
  return texts.filter((text) => text === 'ok').length
}

if (hasRedisServer(t)) {
  t.test('of 1,000 calls at once exactly 100 are served; refused ones count for no limit', async (t) => {
    const replicas = await startThree(t, await startRedisServer(t))
    t.equal(await countServed(t, replicas, 'few', 50), 10)
    t.equal(await countServed(t, replicas, 'any', CALLS), 90)
  })

  t.test('while Redis is away each replica counts alone, and says so once', async (t) => {
    const redis = await startRedisServer(t)
    const replicas = await startThree(t, redis)
    await redis.kill()
    t.equal(await countServed(t, replicas, 'any', CALLS), 300)
    for (const { stdout } of replicas) {
      const count = () => stdout().split('each replica counts its own calls').length - 1
      // The log is written after the answers.
      await until(() => count() > 0, 'the line')
      t.equal(count(), 1)
    }
  })
}
