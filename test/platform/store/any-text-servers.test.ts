import t from 'tap'
import { checkTexts } from '../../contracts/any-text-contract.ts'
import { hasPostgresServer, startPostgresServer } from '../../servers/postgres-server.ts'
import { hasRedisServer, startRedisServer } from '../../servers/redis-server.ts'

if (hasRedisServer(t)) t.test('Redis', async (t) => await checkTexts(t, (await startRedisServer(t)).url))
if (hasPostgresServer(t)) {
  t.test('PostgreSQL', async (t) => await checkTexts(t, (await startPostgresServer(t)).url))
}
