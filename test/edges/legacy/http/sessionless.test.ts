// Requests of earlier revisions that come without a session.

import t, { type Test } from 'tap'
import type { Authenticator } from '../../../../src/platform/access/authentication.ts'
import type { AppOptions } from '../../../../src/app/app.ts'
import { buildApp, listen } from '../../../helpers/app.ts'
import { askingModule } from '../../../helpers/asking-module.ts'
import { until } from '../../../helpers/deadline.ts'
import { LEGACY_REVISIONS, openSession, SessionClient, type SessionReply } from '../../../helpers/session.ts'
import { ASKERS } from './askers.ts'

const FILES = {
  'tools/all.ts': askingModule(`
      define('quick', () => 'ok'),
      define('steps', (_, ctx) => {
        for (const step of [1, 2]) ctx.progress(step)
        for (const level of ['debug', 'warning']) ctx.log[level](level)
        return 'ok'
      }),
      define('client', (_, ctx) => JSON.stringify([ctx.client.info ?? null, ctx.client.capabilities])),
      define('needs', () => 'ok', { requiredCapabilities: { elicitation: { form: {} } } }),
      define('hangs', async (_, ctx) => await new Promise((_, reject) => {
        ctx.signal.addEventListener('abort', () => {
          globalThis.sessionlessStops = (globalThis.sessionlessStops ?? 0) + 1
          reject(ctx.signal.reason)
        })
      })),
      define('writer', () => 'ok', { scopes: ['write'] })`, "size.action + ' ' + size.content?.size"),
  'prompts/hello.md': '---\ndescription: Greets.\narguments:\n  - name: who\n    complete: [ada]\n---\n' +
    'Hello {{who}}\n',
  'resources/a.txt': 'a',
  ...ASKERS
}

async function serve (t: Test, options: AppOptions = {}): Promise<string> {
  return await listen(await buildApp(t, FILES, options))
}

/** A client that names its revision and sends no session. */
function clientOf (t: Test, url: string, revision: string): SessionClient {
  return new SessionClient(t, url, {
    revision, headers: { ...revision !== '2025-03-26' && { 'mcp-protocol-version': revision } }
  })
}

const textOf = ({ result }: SessionReply): string => result.content[0].text

t.test('serves what needs no session in each revision (323, 343)', async (t) => {
  const url = await serve(t)
  for (const revision of LEGACY_REVISIONS) {
    const client = clientOf(t, url, revision)
    const session = await openSession(t, url, { revision })
    for (const [method, params] of [
      ['tools/list'], ['prompts/list'], ['resources/list'], ['resources/templates/list'], ['ping'],
      ['tools/call', { name: 'quick' }],
      ['prompts/get', { name: 'hello', arguments: { who: 'ada' } }],
      ['resources/read', { uri: 'file:///a.txt' }],
      ['completion/complete', {
        ref: { type: 'ref/prompt', name: 'hello' }, argument: { name: 'who', value: 'a' }
      }]
    ] as const) {
      const [reply, known] = [await client.request(method, params), await session.request(method, params)]
      t.equal(reply.status, 200, method)
      t.notOk('mcp-session-id' in reply.headers, 'no session begins')
      t.strictSame(reply.result, known.result, `${method} of ${revision}`)
    }
    t.strictSame((await client.notify('notifications/initialized')).status, 202)
    t.strictSame((await client.notify('notifications/cancelled', { requestId: 1 })).status, 202)
  }
})

t.test('answers errors as in a session: HTTP 404 is for sessions alone (324)', async (t) => {
  const client = clientOf(t, await serve(t), '2025-06-18')
  for (const [method, params, code] of [
    ['resources/read', { uri: 'file:///nothing.txt' }, -32002],
    ['nothing', {}, -32601],
    ['tools/call', { name: 'nothing' }, -32602],
    ['tools/list', { cursor: 'x' }, -32602],
    ['server/discover', {}, -32601]
  ] as const) {
    const { status, error } = await client.request(method, params)
    t.strictSame([status, error?.code], [200, code], method)
  }
  const token = await client.request('tools/call', { name: 'quick', _meta: { progressToken: {} } })
  t.equal(token.error.code, -32602)
})

t.test('says that what needs a session needs one (323, 326, 330)', async (t) => {
  const client = clientOf(t, await serve(t), '2025-11-25')
  for (const reply of [
    await client.request('logging/setLevel', { level: 'info' }),
    await client.request('resources/subscribe', { uri: 'file:///a.txt' }),
    await client.request('resources/unsubscribe', { uri: 'file:///a.txt' }),
    await client.answer('x', {}),
    await (await client.post([client.toRequest('ping', {})])).ended()
  ]) {
    t.equal(reply.status, 400)
    t.match(reply.error, { code: -32600, message: /needs a session: send initialize first/ })
  }
  t.equal((await client.get()).status, 405)
  t.equal((await client.end()).status, 405)
})

t.test('a tool that asks says so, or asks through the model of the client (323)', async (t) => {
  for (const revision of LEGACY_REVISIONS) {
    const client = clientOf(t, await serve(t), revision)
    for (const name of ['needs', 'ask']) {
      const reply = await client.call(name)
      t.equal(reply.result.isError, true)
      const problem = revision < '2025-06-18' && name === 'ask'
        ? /this protocol version cannot ask the user/
        : /without a session: it needs elicitation. Send initialize first/
      t.match(textOf(reply), problem, `${name} in ${revision}`)
    }
    const [, call] = /continue_call with call: "([^"]+)"/.exec(textOf(await client.call('relays'))) ?? []
    const continued = await client.call('continue_call', { call, answers: { size: { size: 'S' } } })
    t.equal(textOf(continued), 'accept S')
    t.strictSame(JSON.parse(textOf(await client.call('client'))), [null, {}], 'nothing is known of it')
    t.equal((await client.request('prompts/get', { name: 'ask' })).error?.code, 422)
  }
})

t.test('sends progress and the log of the default level before the result (331)', async (t) => {
  const client = clientOf(t, await serve(t), '2025-06-18')
  const reply = await client.call('steps', {}, { meta: { progressToken: 'p' } })
  t.strictSame(reply.messages.map(({ method, params }) => [method, params?.level ?? params?.progress]), [
    ['notifications/progress', 1], ['notifications/progress', 2], ['notifications/message', 'warning'],
    [undefined, undefined]
  ])
})

t.test('a client that leaves stops its call', async (t) => {
  const stopped = (): unknown => Reflect.get(globalThis, 'sessionlessStops')
  const url = await serve(t)
  const controller = new AbortController()
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hangs' } })
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  const call = fetch(url, { method: 'POST', body, headers, signal: controller.signal })
  setTimeout(() => controller.abort(), 300)
  await t.rejects(call)
  await until(() => stopped() === 1, 'the handler to stop')
})

t.test('refuses callers and origins as for every request (323, 345)', async (t) => {
  const authenticator: Authenticator = {
    authenticate (authorization) {
      if (authorization === undefined) throw new Error('no token')
      return { subject: authorization, scopes: new Set(authorization === 'Bearer w' ? ['write'] : []) }
    }
  }
  const url = await serve(t, { authenticator })
  const [reader, writer] = ['Bearer r', 'Bearer w'].map(
    (authorization) => new SessionClient(t, url, { revision: '2025-03-26', headers: { authorization } })
  )
  t.equal((await new SessionClient(t, url).request('tools/list')).status, 401)
  t.equal((await writer?.call('writer'))?.result?.content[0].text, 'ok')
  const refused = await reader?.call('writer')
  t.match(refused?.error, { code: -32602 })
  const origin = { origin: 'https://evil.example', authorization: 'Bearer r' }
  t.equal((await new SessionClient(t, url, { headers: origin }).request('tools/list')).status, 403)
})
