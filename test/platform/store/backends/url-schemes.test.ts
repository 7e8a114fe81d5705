// The values of TRIVET_STATE_URL, and the backend that each scheme opens.

import t, { type Test } from 'tap'
import type { OpenedBackend } from '../../../../src/platform/store/backends/backend.ts'
import {
  isSharedUrl, isStateUrl, openBackend, STATE_URL_FORM
} from '../../../../src/platform/store/backends/url-schemes.ts'
import { until, within } from '../../../helpers/deadline.ts'
import { makeFolder } from '../../../helpers/folder.ts'
import { createReadableLog } from '../../../helpers/log.ts'
import { hasPostgresServer, startPostgresServer } from '../../../servers/postgres-server.ts'
import {
  hasRedisServer, startRedisCluster, startRedisSentinel, startRedisServer
} from '../../../servers/redis-server.ts'
import { textOf, toValue } from '../../../helpers/state-value.ts'

const SHARED = [
  'redis://host', 'rediss://:word@host:6380/1', 'redis+sentinel://a,b/main', 'rediss+sentinel://a/main',
  'redis+cluster://a,b', 'rediss+cluster://a', 'postgres://user@host/db', 'postgresql://user@a:1,b:2/db'
]
const OWN = ['memory:', 'file:data', 'file:/data', 'file:with space', 'file:redis://']
const NONE = [
  '', 'memory', 'memory:x', 'memory://', 'file', 'file:', 'redis', 'redis:', 'redis:host', 'redis://',
  'redis:// ', 'redis+other://host', 'postgres:', 'postgres://', 'postgres:user@host', 'pg://host', 'http://host', './data', 'constructor:', '__proto__:', 'MEMORY:',
  ' memory:', ':'
]

async function open (t: Test, url: string): Promise<OpenedBackend> {
  const backend = await openBackend(url, { log: createReadableLog().logger, prefix: 'trivet' })
  t.teardown(async () => await backend.close())
  return backend
}

/** Checks that the store, the broadcast and the log work, and stop when the backend is closed. */
async function checkParts (t: Test, url: string): Promise<void> {
  const { store, broadcast, eventLog, close } = await open(t, url)
  const key = { owner: 'o', name: 'n' }
  await store.create(key, toValue('x'), { idleMs: 60_000 }, 10)
  t.equal(textOf(await store.read(key)), 'x')
  const heard: string[] = []
  broadcast.subscribe(({ type }) => { heard.push(type) })
  broadcast.listen(({ type }) => { heard.push(type) })
  await broadcast.publish({ type: 'tools-changed' })
  await broadcast.send({ type: 'test' })
  await until(() => heard.length === 2, 'both')
  await eventLog.append('s.a', { position: 1, text: 'x' })
  t.strictSame(await eventLog.read('s.a', 0), [{ position: 1, text: 'x' }])

  await within(Promise.all([close(), close()]), 'its end')
  await within(close(), 'its end once more')
  await t.rejects(store.check(), { name: 'StoreUnavailable' })
  await t.resolves(broadcast.publish({ type: 'tools-changed' }))
  await t.resolves(broadcast.send({ type: 'test' }))
  t.strictSame(heard, ['tools-changed', 'test'])
}

t.test('knows the URLs of each backend, and which backends are shared', async (t) => {
  for (const url of [...SHARED, ...OWN]) t.ok(isStateUrl(url), url)
  for (const url of NONE) t.notOk(isStateUrl(url), url)
  for (const url of SHARED) t.ok(isSharedUrl(url), url)
  for (const url of [...OWN, ...NONE]) t.notOk(isSharedUrl(url), url)
})

t.test('a URL of no backend is refused with the valid forms and without the URL', async (t) => {
  for (const url of [...NONE, 'mysql://user:hunter2@host']) {
    await t.rejects(open(t, url), { message: `TRIVET_STATE_URL must be ${STATE_URL_FORM}` }, url)
  }
})

t.test('memory', async (t) => await checkParts(t, 'memory:'))
t.test('file', async (t) => await checkParts(t, `file:${await makeFolder(t)}`))

if (hasRedisServer(t)) {
  t.test('redis', async (t) => await checkParts(t, (await startRedisServer(t)).url))
  t.test('redis+sentinel', async (t) => {
    await checkParts(t, (await startRedisSentinel(t, 'word:of@its/own')).url)
  })
  t.test('redis+cluster', async (t) => await checkParts(t, (await startRedisCluster(t)).url))

  t.test('a Redis that cannot be reached is refused', async (t) => {
    const refusal = within(open(t, 'redis://127.0.0.1:1'), 'the refusal', 10_000)
    await t.rejects(refusal, { message: /^TRIVET_STATE_URL: no Redis is reachable/ })
  })

  t.test('a Redis user who may not subscribe is refused, and the connections end', async (t) => {
    const server = await startRedisServer(t)
    await server.cli('acl', 'setuser', 'deaf', 'on', '>word', '~*', '+@all', 'resetchannels')
    const url = server.url.replace('//', '//deaf:word@')
    const refusal = within(open(t, url), 'the refusal', 15_000)
    await t.rejects(refusal, {
      message: /^TRIVET_STATE_URL: Redis at 127.0.0.1:\d+: nothing arrived .* trivet:broadcast .*\(NOPERM/
    })
    const isConnected = async () => (await server.cli('client', 'list')).includes('user=deaf')
    await until(async () => !await isConnected(), 'its connections to end')
  })
}

if (hasPostgresServer(t)) {
  t.test('postgres', async (t) => await checkParts(t, (await startPostgresServer(t)).url))

  t.test('a PostgreSQL that cannot be reached is refused', async (t) => {
    const opening = open(t, 'postgres://user:hunter2@127.0.0.1:1/db')
    const message = /^TRIVET_STATE_URL: no PostgreSQL can be used at 127\.0\.0\.1:1 \((?!.*hunter2)/
    await t.rejects(within(opening, 'the refusal', 10_000), { message })
  })
}
