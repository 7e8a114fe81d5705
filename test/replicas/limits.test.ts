// The limits of what callers keep and hold, over three replicas with one Redis: what the store counts holds
// for all replicas together, what a replica counts for each of them.

import t from 'tap'
import { buildApp, listen } from '../helpers/app.ts'
import { toolModule, writeCatalog } from '../helpers/catalog-folder.ts'
import { counterModule } from '../helpers/counter-module.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import { startService } from '../helpers/service.ts'
import { openSession } from '../helpers/session.ts'
import { openStream, post } from '../helpers/stream.ts'

const SUBSCRIBE = { method: 'subscriptions/listen', params: { notifications: {} } }
const ONE_ADDRESS = { 'x-forwarded-for': '203.0.113.7' }
const OTHER_ADDRESS = { 'x-forwarded-for': '203.0.113.8' }

if (hasRedisServer(t)) {
  const redis = await startRedisServer(t)
  const catalog = await writeCatalog(t, {
    'tools/list.ts': counterModule('list', 'lst', 'idleTtlMs: 600_000'),
    'tools/slow.ts': toolModule(
      'slow', 'limits: { running: 5 }', '() => new Promise((resolve) => setTimeout(resolve, 3000, "ok"))'
    )
  })
  const replicas = await Promise.all([1, 2, 3].map(async () => await startService(t, {
    TRIVET_CATALOG: catalog,
    TRIVET_WATCH: 'off',
    TRIVET_STATE_URL: redis.url,
    TRIVET_SECRETS: 'the secret that all three replicas have',
    TRIVET_TRUSTED_PROXIES: 'loopback',
    TRIVET_MAX_HANDLES_PER_CALLER: '200',
    TRIVET_MAX_STREAMS: '40'
  })))

  /** Does it many times at once, each time at the next replica, and returns how often it was allowed. */
  const countAllowed = async (
    times: number, attempt: (url: string) => Promise<boolean>, urls = replicas.map(({ url }) => url)
  ) => {
    const outcomes = Array.from({ length: times }, async (_, index) => {
      return await attempt(urls[index % urls.length] ?? '')
    })
    return (await Promise.all(outcomes)).filter(Boolean).length
  }

  t.test('handles: of 300 at once one address makes exactly its 20, another has its own', async (t) => {
    for (const headers of [ONE_ADDRESS, OTHER_ADDRESS]) {
      const made = await countAllowed(300, async (url) => {
        const parts = { method: 'tools/call', params: { name: 'create_list', arguments: {} }, headers }
        const { response } = await post(t, url, parts, { deadlineMs: 30_000 })
        return response.result.isError !== true
      })
      t.equal(made, 20)
    }
  })

  t.test('running calls: each replica has exactly 5 of a caller', async (t) => {
    const served = await countAllowed(60, async (url) => {
      const parts = { method: 'tools/call', params: { name: 'slow' }, headers: ONE_ADDRESS }
      const { response } = await post(t, url, parts, { deadlineMs: 30_000 })
      return response.result.isError !== true
    })
    t.equal(served, 15)
  })

  t.test('streams: each replica holds exactly 4 of a caller', async (t) => {
    for (const headers of [ONE_ADDRESS, OTHER_ADDRESS]) {
      const open = await countAllowed(
        30, async (url) => (await openStream(t, url, { ...SUBSCRIBE, headers })).status === 200
      )
      t.equal(open, 12)
    }
  })

  t.test('sessions: one address keeps the settings of exactly its 64', async (t) => {
    const urls = await Promise.all([1, 2, 3].map(async () => await listen(await buildApp(t, {}, {
      stateUrl: redis.url,
      secrets: ['the secret that all three replicas have'],
      trustedProxies: ['loopback'],
      constants: { maxSessionsPerCaller: 640 }
    }))))
    const kept = await countAllowed(100, async (url) => {
      const session = await openSession(t, url, { headers: ONE_ADDRESS })
      return (await session.request('logging/setLevel', { level: 'error' })).error === undefined
    }, urls)
    t.equal(kept, 64)
  })
}
