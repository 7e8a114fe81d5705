// Authorization of every request, with a real authorization server.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/index

import t from 'tap'
import type { Authenticator } from '../../../src/platform/access/authentication.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { startAuthorizationServer } from '../../servers/authorization-server.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { until, within } from '../../helpers/deadline.ts'
import { readChallenge, send, type Answer } from '../../helpers/request.ts'
import type { Headers } from '../../helpers/session.ts'
import { openSession } from '../../helpers/session.ts'
import { openStream, post } from '../../helpers/stream.ts'
import { openProtectedApp, type ProtectedApp } from './protected-app.ts'

const METADATA = '/.well-known/oauth-protected-resource'

async function call ({ app }: ProtectedApp, name: string, headers: Headers): Promise<Answer> {
  return await send(app, { method: 'tools/call', params: { name, arguments: {} }, headers })
}

t.test('every request needs a token, whatever its method and era (262, 263, 264)', async (t) => {
  const { app, url } = await openProtectedApp(t)
  const initialize = {
    jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} }
  }
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' }
  const session = { ...headers, 'mcp-session-id': 'any' }
  const answers = [
    await app.inject({ method: 'POST', url: '/mcp', headers, body: JSON.stringify(initialize) }),
    await app.inject({ method: 'POST', url: '/mcp', headers: session, body: '{}' }),
    await app.inject({ method: 'POST', url: '/mcp', headers, body: 'no JSON' }),
    await app.inject({ method: 'POST', url: '/mcp?access_token=abc', headers, body: '{}' }),
    await app.inject({ method: 'GET', url: '/mcp', headers: session }),
    await app.inject({ method: 'DELETE', url: '/mcp', headers: session }),
    await app.inject({ method: 'GET', url: '/mcp', headers: { ...session, authorization: 'Basic YTpi' } })
  ]
  for (const { statusCode, headers } of answers) {
    t.equal(statusCode, 401)
    t.strictSame(readChallenge(headers['www-authenticate']), {
      resource_metadata: url.replace('/mcp', `${METADATA}/mcp`), scope: 'books:read'
    })
  }
  const { statusCode } = await app.inject('/livez')
  t.equal(statusCode, 200, 'but for the health of the service')
})

t.test('a token that is not valid is refused with a reason (263, 265, 266, 270)', async (t) => {
  const service = await openProtectedApp(t)
  const { server, url } = service
  const { access_token: elsewhere } = await server.clientCredentials({ resource: 'https://other.example/mcp' })
  const claims = { iss: server.issuer, aud: url, sub: 'a', client_id: 'b', exp: Date.now() / 1000 - 60 }
  const soon = { ...claims, exp: Date.now() / 1000 + 600 }
  const stranger = await startAuthorizationServer(t)
  const forged = [
    elsewhere,
    'opaque',
    await server.sign(claims),
    await server.sign({ ...soon, aud: undefined }),
    await server.sign({ ...soon, iss: 'https://other.example' }),
    await stranger.sign(soon)
  ]
  for (const token of forged) {
    const { status, headers } = await call(service, 'whoami', { authorization: `Bearer ${token}` })
    t.equal(status, 401)
    t.match(readChallenge(headers['www-authenticate']), { error: 'invalid_token', scope: 'books:read' })
  }
  for (const authorization of ['Bearer two words', `Bearer\t${elsewhere}`, `Bearer: ${elsewhere}`]) {
    const { status, headers, response } = await call(service, 'whoami', { authorization })
    t.equal(status, 400)
    t.match(readChallenge(headers['www-authenticate']), { error: 'invalid_request' })
    t.match(response.error.message, /must be "Bearer", a space and one token$/)
  }
  const other = await call(service, 'whoami', { authorization: `DPoP ${elsewhere}` })
  t.equal(other.status, 401)
  t.match(other.response.error.message, /has another scheme than Bearer$/)
  t.notMatch(service.log.text(), elsewhere)
  t.match(service.log.text(), 'not authenticated')
})

t.test('a valid token gives the principal, and no log has the token (261, 265)', async (t) => {
  const service = await openProtectedApp(t)
  const headers = await service.authorize()
  const { response } = await call(service, 'whoami', headers)
  const [subject, clientId, issuer] = JSON.parse(response.result.content[0].text)
  t.strictSame([subject, clientId, issuer], ['machine', 'machine', service.server.issuer])
  const lower = { authorization: headers.authorization.replace('B', 'b') }
  t.equal((await call(service, 'whoami', lower)).status, 200)
  t.notMatch(service.log.text(), headers.authorization.slice('Bearer '.length))
})

t.test('the metadata is open to everyone, and never follows the request (257–260)', async (t) => {
  const { app, url, server } = await openProtectedApp(t)
  for (const path of [METADATA, `${METADATA}/mcp`]) {
    const headers = { host: 'evil.example.com', origin: 'https://page.example.com', 'x-forwarded-host': 'evil' }
    const answer = await app.inject({ url: path, headers })
    t.equal(answer.statusCode, 200)
    t.strictSame(answer.json(), {
      resource: url,
      authorization_servers: [server.issuer],
      bearer_methods_supported: ['header'],
      scopes_supported: ['books:read']
    })
    t.equal(answer.headers['access-control-allow-origin'], '*')
    const preflight = await app.inject({ method: 'OPTIONS', url: path, headers })
    t.equal(preflight.statusCode, 204)
    t.match(preflight.headers, { 'access-control-allow-origin': '*', 'access-control-allow-methods': 'GET' })
  }
  const open = await buildApp(t, {})
  t.equal((await open.inject(METADATA)).statusCode, 404, 'no metadata without an authorization server')
})

t.test('one challenge names every scope that an operation needs, in both eras (268)', async (t) => {
  const service = await openProtectedApp(t)
  const low = await service.authorize()
  const full = await service.authorize('books:read books:write')
  const expected = {
    error: 'insufficient_scope',
    scope: 'books:read books:write',
    resource_metadata: service.url.replace('/mcp', `${METADATA}/mcp`)
  }
  const refused = await call(service, 'lend', low)
  t.equal(refused.status, 403)
  t.match(readChallenge(refused.headers['www-authenticate']), expected)
  t.match((await call(service, 'lend', full)).response.result.content, [{ text: 'ok' }])
  const session = await openSession(t, service.url, { headers: low })
  const legacy = await session.call('lend')
  t.equal(legacy.status, 403)
  t.match(readChallenge(legacy.headers['www-authenticate']), expected)
  t.equal((await session.with({ headers: full }).call('lend')).status, 200, 'the session has more scopes')
  const hidden = await call(service, 'burn', full)
  t.equal(hidden.status, 200)
  t.match(hidden.response.error.message, 'Tool burn not found')
})

t.test('a page of an allowed origin can read the challenge', async (t) => {
  const service = await openProtectedApp(t, { options: { allowedOrigins: ['https://app.example.com'] } })
  const { status, headers } = await call(service, 'whoami', { origin: 'https://app.example.com' })
  t.equal(status, 401)
  t.equal(headers['access-control-allow-origin'], 'https://app.example.com')
  t.match(headers['access-control-expose-headers'], 'WWW-Authenticate')
  const preflight = await service.app.inject({
    method: 'OPTIONS',
    url: '/mcp',
    headers: { origin: 'https://app.example.com', 'access-control-request-method': 'POST' }
  })
  t.equal(preflight.statusCode, 204, 'a preflight has no token')
})

t.test('while the authorization server is down, new tokens get 503 and known ones work', async (t) => {
  const service = await openProtectedApp(t)
  const headers = await service.authorize()
  await service.server.stop()
  const refused = await call(service, 'whoami', headers)
  t.equal(refused.status, 503)
  t.ok(refused.headers['retry-after'])
  t.notOk('www-authenticate' in refused.headers)
  for (let i = 0; i < 5; i++) t.equal((await call(service, 'whoami', headers)).status, 503)
  const errors = service.log.lines.filter(({ level }) => level === 50)
  t.match(errors, [{ msg: 'access tokens cannot be checked', reason: /metadata of/, requests: 1 }])
  await service.server.start()
  await until(async () => (await call(service, 'whoami', headers)).status === 200, 'the next question')
  await service.server.stop()
  t.equal((await call(service, 'whoami', headers)).status, 200)
})

t.test('the key of the authorization server changes while the service runs', async (t) => {
  const service = await openProtectedApp(t)
  t.equal((await call(service, 'whoami', await service.authorize())).status, 200)
  await service.server.rotateKeys()
  const headers = await service.authorize()
  const isAccepted = async () => (await call(service, 'whoami', headers)).status === 200
  // An unknown key makes the service ask again, but not within five seconds: anybody can invent keys.
  await until(isAccepted, 'the new key', 20_000)
  t.equal(service.server.requestsOf('/jwks'), 2)
})

t.test('sessions and handles belong to their principal (274, 310)', async (t) => {
  const service = await openProtectedApp(t)
  const alice = await openSession(t, service.url, { headers: await service.authorize() })
  const { access_token: token } = await service.server.signIn({ scope: 'openid', resource: service.url })
  const bob = alice.with({ headers: { authorization: `Bearer ${token}` } })
  t.equal((await bob.call('whoami')).status, 404)
  t.equal((await bob.get()).status, 404)
  t.equal((await bob.end()).status, 404)
  t.equal((await alice.call('whoami')).status, 200)
  t.equal((await alice.with({ headers: {} }).call('whoami')).status, 401)
})

t.test('a token that counts only by the leeway of clocks opens no stream', async (t) => {
  const service = await openProtectedApp(t)
  const seconds = Math.round(Date.now() / 1000)
  const authorize = async (exp: number) => {
    const claims = { iss: service.server.issuer, aud: service.url, sub: 'ada', exp }
    return { authorization: `Bearer ${await service.server.sign(claims)}` }
  }
  const [late, fresh] = [await authorize(seconds - 10), await authorize(seconds + 60)]
  t.equal((await call(service, 'whoami', late)).status, 200)
  const listen = (headers: Record<string, string>) => ({
    method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } }, headers
  })
  const refused = await post(t, service.url, listen(late))
  t.equal(refused.status, 401)
  t.match(refused.headers['www-authenticate'], /^Bearer resource_metadata=.*error="invalid_token"/)
  t.match(refused.response.error, { code: -32600, message: /the access token has expired/ })
  const session = await openSession(t, service.url, { headers: late })
  const stream = await session.get()
  t.equal(stream.status, 401)
  t.equal((await openStream(t, service.url, listen(fresh))).status, 200)
})

t.test('streams of changes end when the token of their principal expires', async (t) => {
  const service = await openProtectedApp(t, {
    settings: { tokenTtlSeconds: 2 }, options: { watch: 'on', keepAliveMs: 60_000 }
  })
  const headers = await service.authorize()
  const listening = await openStream(t, service.url, {
    method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } }, headers
  })
  const session = await openSession(t, service.url, { headers })
  const stream = await session.get()
  t.equal(stream.status, 200)
  await within(Promise.all([listening.ended(), stream.ended()]), 'the end of the streams', 10_000)
  t.match(listening.messages.at(-1), { id: 1, result: {} }, 'the last message is the result')
})

t.test('streams of changes end when their token is taken back, in both eras', async (t) => {
  let isValid = true
  const authenticator: Authenticator = {
    authenticate: () => ({ subject: 'ada', scopes: new Set() }), isStillValid: () => isValid
  }
  const url = await listen(await buildApp(t, {}, { authenticator, watch: 'on', keepAliveMs: 60_000 }))
  const listening = await openStream(t, url, {
    method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } }
  })
  const stream = await (await openSession(t, url)).get()
  isValid = false
  await within(Promise.all([listening.ended(), stream.ended()]), 'the end of the streams')
  t.match(listening.messages.at(-1), { id: 1, result: {} }, 'the last message is the result')
})

t.test('an anonymous caller is let in beside tokens if the setting says so', async (t) => {
  const service = await openProtectedApp(t, { options: { auth: ['none', 'jwt'] } })
  const { response } = await call(service, 'whoami', {})
  t.equal(response.result.content[0].text, '[null,null,null]')
  t.equal((await call(service, 'whoami', { authorization: 'Bearer opaque' })).status, 401)
  const refused = await call(service, 'lend', {})
  t.equal(refused.status, 401, 'a token is needed first')
  t.strictSame(readChallenge(refused.headers['www-authenticate']), {
    resource_metadata: service.url.replace('/mcp', `${METADATA}/mcp`), scope: 'books:read books:write'
  })
})

t.test('tools, prompts, resources and templates all challenge with every scope (268, 269)', async (t) => {
  const kinds = ['tools', 'prompts', 'resources', 'templates']
  const needing = (kind: string) => `scopes: ['library:${kind}', 'library:read'], whenMissing: 'challenge'`
  const rule = "import { definePrompt, defineResource, defineResourceTemplate } from 'trivet'\n"
  const service = await openProtectedApp(t, {
    settings: { scopes: ['library:base', 'library:read', ...kinds.map((kind) => `library:${kind}`)] },
    files: {
      'tools/a.ts': toolModule('a', needing('tools')),
      'prompts/a.ts': `${rule}export default definePrompt({ name: 'a', ${needing('prompts')}, render: () => 'p' })`,
      'resources/a.resource.ts': `${rule}
export const one = defineResource({ uri: 'doc://one', name: 'one', ${needing('resources')}, read: () => '1' })
export const any = defineResourceTemplate({
  uriTemplate: 'any://{id}', name: 'any', ${needing('templates')}, read: () => '2'
})
`
    }
  })
  const operations = [
    ['tools', { method: 'tools/call', params: { name: 'a' } }],
    ['prompts', { method: 'prompts/get', params: { name: 'a' } }],
    ['resources', { method: 'resources/read', params: { uri: 'doc://one' } }],
    ['templates', { method: 'resources/read', params: { uri: 'any://123' } }]
  ] as const
  const low = await service.authorize('library:base')
  for (const [kind, operation] of operations) {
    const refused = await send(service.app, { ...operation, headers: low })
    t.equal(refused.status, 403, kind)
    const challenge = readChallenge(refused.headers['www-authenticate'])
    t.match(challenge, { error: 'insufficient_scope' })
    const needed = [`library:${kind}`, 'library:read']
    t.strictSame(
      challenge['scope']?.split(' ').toSorted(), [...needed, 'library:base'].toSorted(), 'and what it has'
    )
    const { status, response } = await send(service.app, {
      ...operation, headers: await service.authorize(challenge['scope'])
    })
    t.equal(status, 200)
    t.ok(response.result)
  }
})
