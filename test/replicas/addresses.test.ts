// The share of one address in two replicas, and the address that a proxy passes on.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { isProxyRange } from '../../src/base/addresses.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { counterModule } from '../helpers/counter-module.ts'
import { startPair } from '../helpers/pair.ts'
import type { Service } from '../helpers/service.ts'
import { openSession } from '../helpers/session.ts'
import { post } from '../helpers/stream.ts'
import { PROXIES } from '../servers/proxies.ts'
import { readComposition } from '../servers/proxy.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'

const [ADA, BOB] = ['203.0.113.7', '203.0.113.8']
const REFUSED = /of your address \(\d+\)/

async function call (
  t: Test, { url }: Service, address: string, name: string, args: object = {}
): Promise<string> {
  const { response } = await post(t, url, {
    method: 'tools/call', params: { name, arguments: args }, headers: { 'x-forwarded-for': address }
  })
  return response.result.content[0].text
}

if (hasRedisServer(t)) {
  t.test('two replicas count the handles of an address together, and keep no addresses', async (t) => {
    const redis = await startRedisServer(t)
    const [here, there] = await startPair(t, redis, {
      TRIVET_CATALOG: await writeCatalog(t, {
        'tools/list.ts': counterModule('list', 'lst', 'idleTtlMs: 600_000')
      }),
      TRIVET_MAX_HANDLES_PER_CALLER: '20',
      TRIVET_TRUSTED_PROXIES: 'loopback'
    })
    const keys = async () => await redis.cli('KEYS', '*')
    const mine = [await call(t, here, ADA, 'create_list'), await call(t, there, ADA, 'create_list')]
    for (const id of mine) t.match(id, /^lst_/)
    for (const replica of [here, there]) t.match(await call(t, replica, ADA, 'create_list'), REFUSED)
    const other = await call(t, there, BOB, 'create_list')
    t.equal(await call(t, here, BOB, 'change_list', { id: mine[0], name: 'a' }), '["a"]')
    t.notMatch(await keys(), /203\.0/)

    t.equal(await call(t, there, ADA, 'delete_list', { id: mine[0] }), 'deleted')
    const next = await call(t, here, ADA, 'create_list')
    t.match(next, /^lst_/, 'a deleted handle makes room in both')
    for (const id of [mine[1], next]) await call(t, here, ADA, 'delete_list', { id })
    await call(t, here, BOB, 'delete_list', { id: other })
    t.equal((await keys()).trim(), '', 'no handle and no place is left')
  })

  t.test('two replicas count the settings of the sessions of an address together', async (t) => {
    const redis = await startRedisServer(t)
    const [here, there] = await startPair(t, redis, {
      TRIVET_CATALOG: await writeCatalog(t, {}), TRIVET_TRUSTED_PROXIES: 'loopback'
    })
    const session = await openSession(t, here.url, { headers: { 'x-forwarded-for': ADA } })
    await session.request('logging/setLevel', { level: 'error' })
    const places = async () => (await redis.cli('KEYS', '*session-settings-of-*')).trim()
    t.match(await places(), /session-settings-of-/)
    t.equal((await session.with({ url: there.url }).end()).status, 204)
    t.equal(await places(), '', 'the end of a session frees its place')
    t.match(await redis.cli('KEYS', '*ended-sessions-of-*'), /ended-sessions-of-/)
  })
}

for (const [name, { isInstalled, start }] of Object.entries(PROXIES)) {
  if (!isInstalled(t)) continue
  t.test(`${name} names the client, whatever the client has sent`, async (t) => {
    const replica = createServer(({ headers }, response) => response.end(headers['x-forwarded-for']))
    await once(replica.listen(0, '127.0.0.1'), 'listening')
    t.teardown(() => { replica.close() })
    const { port } = replica.address() as AddressInfo
    const origin = await start(t, [port, port, port])
    for (const forwarded of ['198.51.100.1', '127.0.0.1, 198.51.100.1']) {
      const answer = await fetch(`${origin}/mcp`, { headers: { 'x-forwarded-for': forwarded } })
      t.equal(await answer.text(), '127.0.0.1')
    }
  })
}

t.test('the replicas believe the proxy', async (t) => {
  const { services } = await readComposition()
  t.ok(isProxyRange(services['trivet-1'].environment.TRIVET_TRUSTED_PROXIES))
})
