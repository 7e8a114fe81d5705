// What the authorization server refuses: registrations, authorization requests and token requests.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { decodeJwt } from 'jose'
import t, { type Test } from 'tap'
import type { AppOptions } from '../../../src/app/app.ts'
import { createReadableLog } from '../../helpers/log.ts'
import {
  askForToken, authorize, readMetadata, REDIRECT_URI, register, startSignInService, type Metadata
} from './sign-in-service.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const PKCE = { code_challenge: 'a'.repeat(43), code_challenge_method: 'S256' }

async function open (t: Test, options: AppOptions = {}) {
  const log = createReadableLog('info')
  const service = await startSignInService(t, { logger: log.logger, ...options })
  return { ...service, ...log, metadata: await readMetadata(service.origin) }
}

async function registerAs (server: Metadata, metadata: Record<string, unknown>) {
  const response = await register(server, metadata)
  return { status: response.status, body: await response.json() as Record<string, unknown> }
}

t.test('a registration says what counts, and nothing empty', async (t) => {
  const { metadata } = await open(t)
  const answer = await registerAs(metadata, {
    client_uri: '',
    logo_uri: '',
    contacts: [],
    scope: '',
    tos_uri: null,
    jwks: {},
    software_id: 'x',
    token_endpoint_auth_method: 'client_secret_basic',
    application_type: 'web',
    grant_types: ['implicit']
  })
  t.equal(answer.status, 201, JSON.stringify(answer.body))
  const { client_id: id, client_id_issued_at: at, ...members } = answer.body
  t.match(id, /^registered-[\w.-]+$/)
  t.type(at, 'number')
  t.strictSame(members, {
    client_name: 'Test client',
    redirect_uris: [REDIRECT_URI],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    application_type: 'native'
  })
})

t.test('redirect URIs are those of hosts, and no others', async (t) => {
  const { metadata } = await open(t)
  const accepted = [
    'http://localhost:3334/oauth/callback', 'http://127.0.0.1/', 'http://[::1]:80/x', 'https://claude.ai/api/mcp/auth_callback',
    'https://vscode.dev/redirect', 'cursor://anysphere.cursor-mcp/oauth/callback', 'vscode://vscode.github-authentication/x',
    'claude://oauth', 'com.example.app:/back', 'https://host.example/back?x=1'
  ]
  for (const uri of accepted) {
    const { status, body } = await registerAs(metadata, { redirect_uris: [uri], application_type: 'web' })
    t.equal(status, 201, `${uri} ${JSON.stringify(body)}`)
    t.strictSame(body.redirect_uris, [uri])
  }
  const refused = [
    'javascript:alert(1)', 'JavaScript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'blob:https://a.example/x',
    'vbscript:x', 'about:blank', 'http://host.example/back', 'http://127.0.0.1.evil.example/', 'https://a.example/#x', '/back',
    'http://localhost.evil.example/', 'http://2130706433.example/', '', 7, null
  ]
  for (const uri of refused) {
    const { status, body } = await registerAs(metadata, { redirect_uris: [uri] })
    t.equal(status, 400, String(uri))
    t.match(body.error, /^invalid_(?:redirect_uri|client_metadata)$/)
    t.type(body.error_description, 'string')
  }
})

t.test('a registration is bounded, whatever it has', async (t) => {
  const { metadata, origin } = await open(t)
  const uris = Array.from({ length: 21 }, (_, index) => `http://127.0.0.1/${index}`)
  for (const body of [{ client_name: 'x'.repeat(3000) }, { redirect_uris: uris }]) {
    t.match(await registerAs(metadata, body), { status: 400, body: { error: 'invalid_client_metadata' } })
  }
  for (const redirects of [undefined, [], 'http://127.0.0.1/', {}]) {
    t.match(await registerAs(metadata, { redirect_uris: redirects }), { status: 400 })
  }
  const post = async (body: string, type = 'application/json') => await fetch(`${origin}/sign-in/register`, {
    method: 'POST', headers: { 'content-type': type }, body
  })
  for (const body of ['', '[]', 'null', '1', '{', `{"client_name":${'['.repeat(20_000)}`, 'x'.repeat(60_000)]) {
    const answer = await post(body)
    t.equal(answer.status, 400, body.slice(0, 10))
    t.match(await answer.json(), { error: 'invalid_request' })
  }
  t.equal((await post('a=b', 'application/x-www-form-urlencoded')).status, 400)
})

t.test('ids of clients cannot be made or changed', async (t) => {
  const { metadata, origin } = await open(t)
  const { body: { client_id: id } } = await registerAs(metadata, {})
  const text = String(id)
  const other = await (await startSignInService(t)).origin
  const { body: { client_id: foreign } } = await registerAs(await readMetadata(other), {})
  const ids = [
    `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`, text.toUpperCase(), `${text}.`, 'registered-', 'x', '', String(foreign),
    'https://client.example', 'https://CLIENT.example/x', 'https://client.example/a/../x', 'https://user@client.example/x',
    'https://client.example:443/x', 'http://client.example/x', 'https://127.0.0.1/x', 'https://client.example/x#y'
  ]
  for (const clientId of ids) {
    const query = new URLSearchParams({
      client_id: clientId, response_type: 'code', redirect_uri: REDIRECT_URI, ...PKCE
    })
    const answer = await fetch(`${origin}/sign-in/authorize?${query}`, { redirect: 'manual' })
    t.equal(answer.status, 400, clientId)
    t.match(answer.headers.get('content-type'), /^text\/html/)
    t.equal(answer.headers.get('location'), null, 'no client is named, so nobody is sent anywhere')
  }
})

t.test('an authorization request has PKCE, this resource, one redirect URI, no objects (270)', async (t) => {
  const { metadata, origin, lines, endpoint } = await open(t)
  const { body: { client_id: id } } = await registerAs(metadata, {})
  async function ask (params: Record<string, string | string[] | undefined>) {
    const query = new URLSearchParams()
    const all = {
      client_id: String(id),
      response_type: 'code',
      redirect_uri: REDIRECT_URI,
      state: 's',
      ...PKCE,
      ...params
    }
    for (const [name, value] of Object.entries(all)) {
      for (const item of [value].flat()) if (item !== undefined) query.append(name, item)
    }
    const answer = await fetch(`${origin}/sign-in/authorize?${query}`, { redirect: 'manual' })
    const location = answer.headers.get('location') ?? ''
    return { status: answer.status, location, text: await answer.text() }
  }
  const consent = /^\/sign-in\/consent\/[\w-]+$/
  const accepted = [
    {}, { nonce: 'x' }, { scope: 'openid profile' }, { max_age: '1' }, { claims: '{}' },
    { resource: endpoint }, { redirect_uri: 'http://127.0.0.1:4711/back' }, { prompt: 'consent' }, { prompt: 'select_account' }, { unknown: 'x' }
  ]
  for (const params of accepted) t.match((await ask(params)).location, consent, JSON.stringify(params))

  const refused: ReadonlyArray<readonly [string, Parameters<typeof ask>[0]]> = [
    ['invalid_request', { code_challenge: undefined, code_challenge_method: undefined }],
    ['invalid_request', { code_challenge_method: undefined }],
    ['invalid_request', { code_challenge_method: 'plain' }],
    ['invalid_request', { code_challenge: 'short' }],
    ['invalid_target', { resource: 'https://other.example/mcp' }],
    ['invalid_target', { resource: `${endpoint}/` }],
    ['invalid_target', { resource: [endpoint, 'https://other.example/mcp'] }],
    ['unsupported_response_mode', { response_mode: 'form_post' }],
    ['unsupported_response_mode', { response_mode: 'fragment' }],
    ['unsupported_response_mode', { response_mode: 'web_message' }],
    ['unsupported_response_type', { response_type: 'token' }],
    ['unsupported_response_type', { response_type: 'code id_token' }],
    ['request_not_supported', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
    ['request_uri_not_supported', { request_uri: 'https://client.example/request' }],
    ['login_required', { prompt: 'none' }],
    ['invalid_request', { redirect_uri: [REDIRECT_URI, 'https://evil.example'] }],
    ['invalid_request', { redirect_uri: ['https://evil.example', REDIRECT_URI] }]
  ]
  for (const [error, params] of refused) {
    const { status, location } = await ask(params)
    t.equal(status, 303, JSON.stringify(params))
    // The engine answers those that would get tokens from this endpoint where they would read them.
    const isFragment = error === 'unsupported_response_type'
    const [target, answer] = location.split(isFragment ? '#' : '?')
    t.equal(target, REDIRECT_URI, location)
    const members = Object.fromEntries(new URLSearchParams(answer))
    t.match(members, { error, state: 's', iss: origin }, JSON.stringify(params))
  }

  const unsent = [
    { redirect_uri: 'http://127.0.0.1/other' }, { redirect_uri: 'http://127.0.0.1.evil.example/back' },
    { redirect_uri: 'http://user@127.0.0.1/back' }, { redirect_uri: 'http://127.0.0.1/back/' }, { redirect_uri: 'https://127.0.0.1/back' },
    { redirect_uri: 'http://localhost/back' }, { redirect_uri: 'http://127.0.0.1/back?x' }, { redirect_uri: 'javascript:alert(1)' },
    { client_id: [String(id), String(id)] }
  ]
  for (const params of unsent) {
    const { status, location, text } = await ask(params)
    t.equal(status, 400, JSON.stringify(params))
    t.equal(location, '')
    t.match(text, /cannot go on/)
  }
  const refusals = lines.filter(({ msg }) => msg === 'a request of the sign-in was refused')
  t.equal(refusals.length, refused.length + unsent.length, 'each has a line in the log')
  t.match(refusals[0], { level: 30, error: 'invalid_request', reason: /PKCE/, route: 'authorization', reqId: /./ })
})

t.test('the token endpoint takes forms alone, of a bounded size', async (t) => {
  const { metadata, origin } = await open(t)
  const url = metadata.token_endpoint
  const { body: { client_id: id } } = await registerAs(metadata, {})
  const form = {
    grant_type: 'authorization_code', client_id: String(id), code: 'x', redirect_uri: REDIRECT_URI
  }
  t.match(await askForToken(metadata, form), { status: 400, body: { error: 'invalid_grant' } })
  for (const [status, error, other] of [
    [400, 'unsupported_grant_type', { grant_type: 'password' }],
    [401, 'invalid_client', { client_id: 'x' }],
    [400, 'invalid_grant', { client_secret: 'a secret, which no client has' }],
    [400, 'invalid_grant', { code: 'x'.repeat(50_000) }]
  ] as const) {
    t.match(await askForToken(metadata, { ...form, ...other }), { status, body: { error } })
  }
  const post = async (body: string, type: string) => await fetch(url, {
    method: 'POST', headers: { 'content-type': type }, body
  })
  for (const [body, type] of [
    ['{}', 'application/json'], ['a=b', 'text/plain'],
    ['x'.repeat(60_000), 'application/x-www-form-urlencoded']
  ] as const) {
    const answer = await post(body, type)
    t.equal(answer.status, 400)
    t.match(await answer.json(), { error: 'invalid_request' })
    t.equal(answer.headers.get('cache-control'), 'no-store')
  }
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']) {
    t.equal((await fetch(url, { method })).status, 404, method)
  }
  const body = new URLSearchParams(form)
  t.equal((await fetch(`${origin}/sign-in/authorize`, { method: 'POST', body })).status, 404)
})

t.test('the resource may be written in any way that means the same (272)', async (t) => {
  const { metadata, endpoint } = await open(t)
  const { body: { client_id: id } } = await registerAs(metadata, {})
  for (const resource of [endpoint, endpoint.replace('http:', 'HTTP:')]) {
    const { form } = await authorize(metadata, { clientId: String(id), params: { resource } })
    const { status, body } = await askForToken(metadata, { ...form, resource })
    t.equal(status, 200, JSON.stringify(body))
    t.equal(decodeJwt(String(body.access_token)).aud, endpoint)
    const refresh = {
      grant_type: 'refresh_token', client_id: String(id), refresh_token: String(body.refresh_token)
    }
    t.equal((await askForToken(metadata, { ...refresh, resource })).status, 200)
    const other = await askForToken(metadata, { ...refresh, resource: 'https://other.example/mcp' })
    t.match(other, { status: 400, body: { error: 'invalid_target' } })
  }
})

t.test('100,000 registrations leave nothing behind', async (t) => {
  const { app, metadata } = await open(t)
  const { createRegistrations } = await import('../../../src/features/sign-in/engine/registrations.ts')
  const { createSealer } = await import('../../../src/platform/store/sealing/sealer.ts')
  const registrations = createRegistrations(createSealer(['a secret']))
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  const begin = process.cpuUsage()
  for (let index = 0; index < 100_000; index++) {
    const metadata = { client_name: `client ${index}`, redirect_uris: [`http://127.0.0.1/${index}`] }
    const id = registrations.toId(metadata)
    if (registrations.read(id) === undefined) throw new Error('the id is not read')
  }
  const { user, system } = process.cpuUsage(begin)
  t.comment(`${((user + system) / 100_000).toFixed(1)} µs of CPU each`)
  t.ok(user + system < 60_000_000)
  collectGarbage()
  t.ok(process.memoryUsage().heapUsed - before < 50_000_000)
  for (let index = 0; index < 300; index++) {
    const { status } = await registerAs(metadata, { client_name: `client ${index}` })
    if (status !== 201) throw new Error(`registration ${index} has the status ${status}`)
  }
  t.ok(app)
})
