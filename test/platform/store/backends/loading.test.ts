// A service loads only the driver of the backend that it uses.

import t, { type Test } from 'tap'
import { NODE_OPTIONS, readLoadedPackages } from '../../../../bench/loaded-packages.mjs'
import { toolModule, writeCatalog } from '../../../helpers/catalog-folder.ts'
import { makeFolder } from '../../../helpers/folder.ts'
import { hasPostgresServer, startPostgresServer } from '../../../servers/postgres-server.ts'
import { hasRedisServer, startRedisServer } from '../../../servers/redis-server.ts'
import { startService } from '../../../helpers/service.ts'
import { post } from '../../../helpers/stream.ts'

/** The drivers that a service has loaded after its first answer. */
async function findDrivers (t: Test, stateUrl: string): Promise<string[]> {
  const { url, stderr, stop } = await startService(t, {
    NODE_OPTIONS,
    TRIVET_CATALOG: await writeCatalog(t, { 'tools/hello.ts': toolModule('hello') }),
    TRIVET_WATCH: 'off',
    TRIVET_STATE_URL: stateUrl,
    TRIVET_SECRETS: 'sealed for no longer than a test takes'
  })
  const { response } = await post(t, url, { method: 'tools/call', params: { name: 'hello', arguments: {} } })
  t.strictSame(response.result.content, [{ type: 'text', text: 'ok' }])
  await stop()
  const loaded = await readLoadedPackages(stderr())
  t.ok(loaded.has('fastify'), 'what is loaded is seen')
  return ['ioredis', 'lmdb', 'pg'].filter((name) => loaded.has(name))
}

t.test('memory loads no driver', async (t) => t.strictSame(await findDrivers(t, 'memory:'), []))

t.test('a folder loads LMDB and no driver of a server', async (t) => {
  t.strictSame(await findDrivers(t, `file:${await makeFolder(t)}`), ['lmdb'])
})

if (hasRedisServer(t)) {
  t.test('Redis loads its driver and no other', async (t) => {
    t.strictSame(await findDrivers(t, (await startRedisServer(t)).url), ['ioredis'])
  })
}

if (hasPostgresServer(t)) {
  t.test('PostgreSQL loads its driver and no other', async (t) => {
    t.strictSame(await findDrivers(t, (await startPostgresServer(t)).url), ['pg'])
  })
}
