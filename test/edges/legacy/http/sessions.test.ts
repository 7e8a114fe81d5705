// Opening sessions and ending them.

import t from 'tap'
import type { Authenticator } from '../../../../src/platform/access/authentication.ts'
import { buildApp, listen } from '../../../helpers/app.ts'
import { toolModule } from '../../../helpers/catalog-folder.ts'
import { LEGACY_REVISIONS, openSession, SessionClient } from '../../../helpers/session.ts'

const FILES = { 'tools/quick.ts': toolModule('quick') }
const CLIENT = { name: 'test', version: '1.0.0' }

t.test('negotiates the requested or the last legacy revision (314, 315, 316, 317, 380)', async (t) => {
  const url = await listen(await buildApp(t, FILES))
  const asked: ReadonlyArray<readonly [string, string]> = [
    ...LEGACY_REVISIONS.map((revision) => [revision, revision] as const),
    ...[
      '2026-07-28', '2099-01-01', '1999-01-01', '', 'latest', '2025-11-25 ', '2025-11-2', 'x'.repeat(10_000),
      '__proto__'
    ].map((revision) => [revision, '2025-11-25'] as const)
  ]
  for (const [protocolVersion, expected] of asked) {
    const client = new SessionClient(t, url, { revision: expected })
    const { status, headers, result } = await client.request('initialize', {
      protocolVersion, capabilities: {}, clientInfo: CLIENT
    })
    t.equal(status, 200)
    t.equal(result.protocolVersion, expected, protocolVersion.slice(0, 20))
    t.match(headers['mcp-session-id'], /^[\x21-\x7e]+$/, 'of visible ASCII (322)')
    t.match(result.serverInfo, { name: String, version: String })
    client.token = String(headers['mcp-session-id'])
    t.equal(
      (await client.notify('notifications/initialized')).text, '', 'a notification has no answer (319)'
    )
    t.equal((await client.request('tools/list')).result.tools.length, 1)
  }
})

t.test('refuses an incomplete handshake under its id, without a session (314)', async (t) => {
  const url = await listen(await buildApp(t, FILES))
  const right = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT }
  for (const params of [
    undefined, {}, { ...right, protocolVersion: 7 }, { ...right, protocolVersion: undefined },
    { ...right, capabilities: [] }, { ...right, capabilities: undefined },
    { ...right, clientInfo: { name: 'a' } }, { ...right, clientInfo: null }
  ]) {
    const { status, headers, response } = await new SessionClient(t, url).request('initialize', params, 'i')
    t.strictSame([status, response.id, response.error?.code], [200, 'i', -32602], JSON.stringify(params))
    t.notOk('mcp-session-id' in headers)
  }
  const notified = await new SessionClient(t, url).notify('initialize', right)
  t.strictSame([notified.status, notified.error.code], [400, -32600])
  const deep = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`
  const deepParams = `{"protocolVersion":"2025-11-25","capabilities":${deep},` +
    '"clientInfo":{"name":"a","version":"1"}}'
  const deepHandshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":${deepParams}}`
  const nested = await (await new SessionClient(t, url).post(deepHandshake)).ended()
  t.ok(nested.status >= 200 && nested.status < 500, `${nested.status}`)
})

t.test('serves a client that sends no notifications/initialized (320)', async (t) => {
  const url = await listen(await buildApp(t, FILES))
  const client = new SessionClient(t, url)
  const { headers } = await client.request('initialize', {
    protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT
  })
  client.token = String(headers['mcp-session-id'])
  t.equal((await client.request('ping')).status, 200)
})

t.test('another principal cannot use or end a session (324)', async (t) => {
  const authenticator: Authenticator = {
    authenticate: (authorization) => ({
      ...(authorization !== undefined && { subject: authorization }), scopes: new Set()
    })
  }
  const url = await listen(await buildApp(t, FILES, { authenticator }))
  const alice = await openSession(t, url, { headers: { authorization: 'Bearer alice' } })
  t.equal((await alice.call('quick')).status, 200)
  for (const authorization of ['Bearer bob', undefined]) {
    const other = alice.with({ headers: { authorization } })
    for (const reply of [
      await other.call('quick'), await other.get(), await other.end(),
      await other.notify('notifications/initialized'), await other.answer('x', {})
    ]) {
      await reply.ended()
      t.strictSame([reply.status, reply.error.code], [404, -32600])
    }
  }
  t.equal((await alice.call('quick')).status, 200, 'the session has not ended')
})

t.test('refuses every request of a session that has ended (324, 325)', async (t) => {
  const url = await listen(await buildApp(t, FILES))
  const session = await openSession(t, url)
  const other = await openSession(t, url)
  const listening = await session.get()
  const ended = await session.end()
  t.strictSame([ended.status, ended.text], [204, ''])
  t.equal((await listening.ended()).isComplete, true, 'its stream is over')
  for (const reply of [
    await session.call('quick'), await session.notify('notifications/initialized'),
    await session.answer('x', {}), await session.get(), await session.end()
  ]) {
    await reply.ended()
    t.strictSame([reply.status, reply.error.code], [404, -32600])
  }
  t.equal((await other.call('quick')).status, 200)
  const { initialized } = await openSession(t, url)
  t.equal(initialized.protocolVersion, '2025-11-25', 'a new session can be opened')
})

t.test('hostile clients', async (t) => {
  const url = await listen(await buildApp(t, FILES))
  const session = await openSession(t, url)

  t.test('a session of 10,000 bytes is not found (324)', async (t) => {
    for (const token of ['x'.repeat(10_000), `${session.token}${'A'.repeat(8000)}`]) {
      t.equal((await session.with({ token }).call('quick')).status, 404)
    }
    t.equal((await session.with({ token: 'x'.repeat(30_000) }).call('quick')).status, 431)
  })

  t.test('refuses two session ids in one request (324)', async (t) => {
    t.equal((await session.with({ token: `${session.token}, ${session.token}` }).call('quick')).status, 404)
  })

  t.test('answers a deeply nested body and a batch of many messages', async (t) => {
    const deep = `${'{"a":'.repeat(150_000)}1${'}'.repeat(150_000)}`
    for (const body of [
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"quick","arguments":${deep}}}`,
      `{"jsonrpc":"2.0","id":1,"method":"nothing","params":${deep}}`,
      `${'['.repeat(200_000)}${']'.repeat(200_000)}`, `[${'[],'.repeat(200_000)}[]]`
    ]) {
      const { status } = await (await session.post(body)).ended()
      t.ok(status === 200 || status === 400, `${status}`)
    }
  })

  t.test('refuses keys that would change a prototype', async (t) => {
    t.equal((await session.post('{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{"x":1}}')).status, 400)
  })

  t.test('refuses media types that it does not read or that the client does not accept (330)', async (t) => {
    t.equal((await session.post(session.toRequest('ping', {}), { accept: 'text/html' })).status, 406)
    t.equal((await session.get({ accept: 'application/json' })).status, 406)
    for (const method of ['initialize', 'ping']) {
      const { status } = await session.post(session.toRequest(method, {}), { accept: 'text/event-stream' })
      t.equal(status, 406, method)
    }
    t.equal((await session.post(session.toRequest('ping', {}), { 'content-type': 'text/plain' })).status, 415)
  })

  t.test('the service goes on', async (t) => t.equal((await session.call('quick')).status, 200))
})

t.test('refuses every method from an origin that is not allowed (345, 353)', async (t) => {
  const url = await listen(await buildApp(t, FILES))
  const session = await openSession(t, url)
  const evil = session.with({ headers: { origin: 'https://evil.example' } })
  for (const reply of [await evil.call('quick'), await evil.get(), await evil.end()]) {
    t.equal(reply.status, 403)
  }
  t.equal((await session.call('quick')).status, 200)
})
