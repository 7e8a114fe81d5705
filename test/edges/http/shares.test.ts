// What one anonymous address may use. Each client of these tests has the address that a trusted proxy names.

import t, { type Test } from 'tap'
import type { Authenticator } from '../../../src/platform/access/authentication.ts'
import { ANONYMOUS } from '../../../src/platform/access/principal.ts'
import type { AppOptions } from '../../../src/app/app.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { counterModule } from '../../helpers/counter-module.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog, type ReadableLog } from '../../helpers/log.ts'
import { readMessages, toPost, type Message, type RequestParts } from '../../helpers/request.ts'
import { openSession } from '../../helpers/session.ts'
import { openStream, post } from '../../helpers/stream.ts'

const FILES = {
  'tools/list.ts': counterModule('list', 'lst', 'idleTtlMs: 600_000'),
  'tools/speaks.ts': `
import { defineTool } from 'trivet'
export default defineTool({ name: 'speaks', description: 'A tool.', run: async (_, ctx) => {
  ctx.progress(1)
  await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
} })
`
}
const SUBSCRIBE = { method: 'subscriptions/listen', params: { notifications: {} } }
const [ADA, BOB] = ['203.0.113.7', '2001:db8:0:1::7']

const from = (address: string, parts: RequestParts): RequestParts => ({
  ...parts, headers: { ...parts.headers, 'x-forwarded-for': address }
})
const call = (name: string, args: object = {}): RequestParts => ({
  method: 'tools/call', params: { name, arguments: args }
})

/** A service that trusts the proxies of this machine. */
async function serve (t: Test, options: AppOptions = {}): Promise<{ url: string, log: ReadableLog }> {
  const log = createReadableLog('warn')
  const app = await buildApp(t, FILES, { trustedProxies: ['loopback'], logger: log.logger, ...options })
  return { url: await listen(app), log }
}

/** Creates a handle, and returns its id or the error. */
async function create (t: Test, url: string, address: string): Promise<string> {
  const { response } = await post(t, url, from(address, call('create_list')))
  return response.result.content[0].text
}

const REFUSED = /^No new list can be made\. Too many handles of your address \(\d+\)\./

t.test('one address has a tenth of the streams', async (t) => {
  const { url, log } = await serve(t, { maxStreams: 20 })
  const listenAs = async (address: string) => await openStream(t, url, from(address, SUBSCRIBE))
  const [first, second] = [await listenAs(ADA), await listenAs(ADA)]
  const refused = await post(t, url, from(ADA, SUBSCRIBE))
  t.equal(refused.status, 503)
  t.match(refused.response.error, { code: 503, message: /^Too many open streams of your address on this replica \(\d+\)\./ })
  t.match(log.lines, [{ msg: 'request refused', err: { message: /203\.0\.113\.7 .*TRIVET_TRUSTED_PROXIES/ } }])
  t.equal((await listenAs(BOB)).status, 200)
  t.equal((await listenAs('127.0.0.1')).status, 200)

  const speaking = await openStream(t, url, from(ADA, { ...call('speaks'), meta: { progressToken: 1 } }))
  t.equal((await speaking.next()).method, 'notifications/progress', 'a call is never refused')
  first.close()
  second.close()
  t.equal((await post(t, url, from(ADA, { method: 'tools/list' }))).status, 200)
  await until(async () => (await listenAs(ADA)).status === 200, 'room for another stream')
})

t.test('one address has a tenth of the streams of sessions', async (t) => {
  const { url } = await serve(t, { maxStreams: 10 })
  const openAs = async (address: string) => await openSession(t, url, {
    headers: { 'x-forwarded-for': address }
  })
  const [first, second, third] = [await openAs(ADA), await openAs(ADA), await openAs(BOB)]
  const stream = await first.get()
  t.equal((await (await second.get()).ended()).error.code, 503)
  t.equal((await third.get()).status, 200)
  t.equal((await first.get()).status, 200, 'a session replaces its own stream')
  await stream.ended()
})

t.test('one address has a tenth of the handles, and every address may use each handle', async (t) => {
  const { url, log } = await serve(t, { maxHandlesPerCaller: 20 })
  const made = [await create(t, url, ADA), await create(t, url, ADA)]
  t.match(made, [/^lst_/, /^lst_/])
  t.match(await create(t, url, ADA), REFUSED)
  t.match(log.lines.at(-1), { msg: 'tool error', err: { message: /203\.0\.113\.7 .*TRIVET_TRUSTED_PROXIES/ } })
  t.match(await create(t, url, BOB), /^lst_/)
  const change = call('change_list', { id: made[0], name: 'a' })
  t.equal((await post(t, url, from(BOB, change))).response.result.content[0].text, '["a"]')

  await post(t, url, from(ADA, call('delete_list', { id: made[1] })))
  t.match(await create(t, url, ADA), /^lst_/, 'a deleted handle makes room')
  t.match(await create(t, url, ADA), REFUSED)
})

t.test('all anonymous callers together have the whole limit', async (t) => {
  const { url } = await serve(t, { maxHandlesPerCaller: 3 })
  for (const address of [ADA, BOB, '203.0.113.8']) t.match(await create(t, url, address), /^lst_/)
  t.match(await create(t, url, '203.0.113.9'), /Too many handles of yours \(3\)/)
  t.match(await create(t, url, '127.0.0.1'), /Too many handles of yours \(3\)/)
})

t.test('a named principal has its handles and half of the streams at every address', async (t) => {
  const authenticator: Authenticator = {
    authenticate: (name) => name === undefined ? ANONYMOUS : { subject: name, scopes: new Set() }
  }
  const { url } = await serve(t, { maxHandlesPerCaller: 3, maxStreams: 6, authenticator })
  const headers = { authorization: 'ada' }
  for (let i = 0; i < 3; i++) {
    const { response } = await post(t, url, from(ADA, { ...call('create_list'), headers }))
    t.match(response.result.content[0].text, /^lst_/)
    t.equal((await openStream(t, url, from(ADA, { ...SUBSCRIBE, headers }))).status, 200)
  }
  const { status, response } = await post(t, url, from(BOB, { ...SUBSCRIBE, headers }))
  t.equal(status, 503)
  t.match(response.error, { message: /^Too many open streams of yours on this replica \(3\)\./ })
})

t.test('X-Forwarded-For of an untrusted peer changes nothing', async (t) => {
  for (const trustedProxies of [[], ['10.0.0.0/8', 'loopback']]) {
    const app = await buildApp(t, FILES, { maxHandlesPerCaller: 20, trustedProxies })
    const createAs = async (remoteAddress: string, forwarded: string): Promise<Message> => {
      const { headers, body } = toPost(from(forwarded, call('create_list')))
      const answer = await app.inject({ method: 'POST', url: '/mcp', remoteAddress, headers, body })
      return readMessages(answer.body, 'application/json').at(-1).result.content[0].text
    }
    t.match(await createAs('203.0.113.7', '198.51.100.1'), /^lst_/)
    t.match(await createAs('203.0.113.7', '127.0.0.1'), /^lst_/)
    for (const forwarded of ['198.51.100.2', '127.0.0.1', '::1', '10.0.0.1', 'garbage', '']) {
      t.match(await createAs('203.0.113.7', forwarded), REFUSED, forwarded)
      t.match(await createAs('::ffff:203.0.113.7', forwarded), REFUSED, forwarded)
    }
    t.match(await createAs('198.51.100.2', ''), /^lst_/)
  }
})

t.test('a client of an earlier revision has the same share of handles', async (t) => {
  const { url } = await serve(t, { maxHandlesPerCaller: 10 })
  const sessions = await Promise.all([ADA, ADA, BOB].map(async (address) => await openSession(t, url, {
    headers: { 'x-forwarded-for': address }
  })))
  const texts: string[] = []
  for (const session of sessions) texts.push((await session.call('create_list')).result.content[0].text)
  t.match(texts, [/^lst_/, REFUSED, /^lst_/])
})
