// The desk of `trivet dev` on its built service: callers, exchanges, JWTs and sign-ins without an identity
// provider, and a `serve` that takes none of it.

import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import t, { type Test } from 'tap'
import { toClaims } from '../../features/upstreams/tokens/exchange-setup.ts'
import { startUpstream } from '../../features/upstreams/upstream-server.ts'
import { askForToken, callHello, HELLO, signIn } from '../../features/sign-in/sign-in-service.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { findFreePort } from '../../helpers/free-port.ts'
import { createPerson } from '../../helpers/person.ts'
import { runService, startService } from '../../helpers/service.ts'
import { post } from '../../helpers/stream.ts'
import { startAuthorizationServer } from '../../servers/authorization-server.ts'

/** A tool that says what an upstream was told. */
const toolOf = (upstream: string) => `import { defineTool } from 'trivet'
import { upstream } from '../lib/${upstream}.mjs'
export default defineTool({
  name: '${upstream}', description: 'Calls', inputSchema: { type: 'object' }, upstreams: [upstream],
  async run (_, ctx) { return await (await ctx.fetch(upstream, 'who')).json() }
})`

const libOf = (name: string, url: string, auth: string) => `import { defineUpstream } from 'trivet'
export const upstream = defineUpstream({ name: '${name}', url: '${url}', allowPrivate: true, auth: ${auth} })`

/** Starts an upstream that answers with the claims of the token that it gets, and keeps the token. */
async function startApi (t: Test) {
  const tokens: string[] = []
  const { url } = await startUpstream(t, ({ headers }, response) => {
    const token = headers.authorization?.slice('Bearer '.length) ?? ''
    tokens.push(token)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(decodeJwt(token)))
  })
  return { url, tokens }
}

async function writeUpstreams (t: Test, url: string): Promise<string> {
  return await writeCatalog(t, {
    ...HELLO,
    'lib/crm.mjs': libOf('crm', url, "{ type: 'exchange', audience: 'https://crm.example', scopes: ['crm:read'] }"),
    'lib/hr.mjs': libOf('hr', url, "{ type: 'claims', jwt: { audience: 'https://hr.example', " +
      'claims: ({ sub, department }) => ({ sub, department }) } }'),
    'tools/crm.mjs': toolOf('crm'),
    'tools/hr.mjs': toolOf('hr')
  })
}

async function startDev (
  t: Test, { catalog, environment = {}, args = [] }: {
    readonly catalog?: string
    readonly environment?: { readonly [name: string]: string }
    readonly args?: readonly string[]
  } = {}
) {
  const folder = catalog ?? await writeCatalog(t, HELLO)
  const port = String(await findFreePort())
  const service = await startService(t, { PORT: port, ...environment }, { args: ['dev', folder, ...args] })
  const { origin } = new URL(service.url)
  return {
    service,
    folder,
    origin,
    port,
    issuer: `${origin}/dev`,
    pick: async (caller: object) => await pick(origin, caller),
    async call (name: string, token?: string) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const url = `${origin}/mcp`
      const { status, text } = await post(t, url, { method: 'tools/call', params: { name }, headers })
      return { status, text, result: status === 200 ? JSON.parse(text).result : undefined }
    }
  }
}

async function pick (origin: string, caller: object): Promise<string> {
  const response = await fetch(`${origin}/console/callers`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(caller)
  })
  return (await response.json() as { readonly token: string }).token
}

const ADA = { subject: 'ada', scopes: ['books:read'], claims: { department: 'sales' } }

t.test('upstreams that want the caller load without a provider, and get a marked token', async (t) => {
  const api = await startApi(t)
  const { call, pick, issuer } = await startDev(t, { catalog: await writeUpstreams(t, api.url) })
  const token = await pick(ADA)
  const exchanged = await call('crm', token)
  t.match(exchanged.result, {
    isError: undefined,
    structuredContent: { iss: issuer, aud: 'https://crm.example', sub: 'ada', scope: 'crm:read', trivet_dev: true }
  })
  const signed = await call('hr', token)
  t.match(signed.result, {
    isError: undefined,
    structuredContent: { iss: issuer, aud: 'https://hr.example', sub: 'ada', department: 'sales', trivet_dev: true }
  })
  const metadata = await fetch(`${issuer}/.well-known/openid-configuration`)
  const { jwks_uri: uri } = await metadata.json() as { readonly jwks_uri: string }
  const keys = createRemoteJWKSet(new URL(uri))
  for (const issued of api.tokens) {
    await jwtVerify(issued, keys, { issuer })
    t.equal(decodeProtectedHeader(issued).typ, 'trivet-dev+jwt')
  }
  const anonymous = await call('crm')
  t.match(anonymous.result, { isError: true }, 'an anonymous caller has no token, as elsewhere')
  t.equal(api.tokens.length, 2)
})

t.test('the caller of --subject calls upstreams too', async (t) => {
  const api = await startApi(t)
  const catalog = await writeUpstreams(t, api.url)
  const { call } = await startDev(t, { catalog, args: ['--subject', 'bob'] })
  t.match((await call('crm')).result, { structuredContent: { sub: 'bob' } })
})

t.test('jwt: picked callers have tokens that are checked as others are', async (t) => {
  const api = await startApi(t)
  const catalog = await writeUpstreams(t, api.url)
  const { call, pick, origin, issuer } = await startDev(t, {
    catalog, environment: { TRIVET_AUTH: 'jwt' }, args: ['--subject', 'bob']
  })
  t.match(await (await fetch(`${origin}/console/state`)).json(), { callers: 'desk', caller: { subject: 'bob' } })
  t.equal((await call('hello')).status, 401)
  const token = await pick(ADA)
  t.match((await call('hello', token)).text, /ada.*books:read/)
  const [head, , seal] = token.split('.')
  const forged = Buffer.from(JSON.stringify({ ...decodeJwt(token), sub: 'eve' })).toString('base64url')
  t.equal((await call('hello', `${head}.${forged}.${seal}`)).status, 401)
  t.match((await call('crm', token)).result, { structuredContent: { iss: issuer, sub: 'ada' } })
  t.equal((await call('hello', api.tokens[0])).status, 401, 'a token for an upstream is not for the endpoint')
})

t.test('jwt: tokens of a real issuer count beside them', async (t) => {
  const provider = await startAuthorizationServer(t)
  const { call, pick, origin } = await startDev(t, {
    environment: { TRIVET_AUTH: 'jwt', TRIVET_AUTH_ISSUERS: provider.issuer }
  })
  const real = await provider.sign(toClaims(provider.issuer, 'carol', { aud: `${origin}/mcp` }))
  t.match((await call('hello', real)).text, /carol/)
  t.match((await call('hello', await pick(ADA))).text, /ada/)
})

t.test('sign-in: the whole flow of a client, with the desk in the place of the provider', async (t) => {
  const api = await startApi(t)
  const catalog = await writeUpstreams(t, api.url)
  const { origin, issuer, call } = await startDev(t, { catalog, environment: { TRIVET_AUTH: 'sign-in' } })
  const person = createPerson({ name: 'dora' })
  const { status, body, metadata, clientId } = await signIn(origin, { person })
  t.equal(status, 200)
  const { status: called, body: text } = await callHello(`${origin}/mcp`, body.access_token)
  t.equal(called, 200, text)
  t.match(text, `${issuer}|dora`)
  t.match((await call('crm', String(body.access_token))).result, {
    structuredContent: { iss: issuer, sub: 'dora', trivet_dev: true }
  })
  const refreshed = await askForToken(metadata, {
    grant_type: 'refresh_token', client_id: clientId, refresh_token: String(body.refresh_token)
  })
  t.equal(refreshed.status, 200)
})

t.test('serve takes nothing of the desk, with the same secrets, state, address and machine', async (t) => {
  const port = String(await findFreePort())
  const common = {
    TRIVET_SECRETS: 's'.repeat(40),
    TRIVET_PUBLIC_URL: `http://127.0.0.1:${port}/mcp`,
    TRIVET_STATE_URL: `file:${await makeFolder(t)}`
  }
  const auth = { TRIVET_AUTH: 'sign-in,jwt' }
  const { service, folder, origin, issuer, pick } = await startDev(t, {
    environment: { ...common, ...auth, PORT: port }
  })
  const { body, metadata, clientId } = await signIn(origin)
  const picked = await pick(ADA)
  const forms = [body.access_token, picked]
  for (const token of forms) t.equal((await callHello(`${origin}/mcp`, token)).status, 200)
  await service.stop()

  const provider = await startAuthorizationServer(t)
  const settings = {
    ...common,
    ...auth,
    PORT: port,
    TRIVET_AUTH_ISSUERS: issuer,
    TRIVET_SIGN_IN: provider.issuer,
    TRIVET_SIGN_IN_CLIENT_ID: 'trivet',
    TRIVET_SIGN_IN_CLIENT_SECRET: 'secret'
  }
  await startService(t, settings, { args: ['serve', folder] })
  t.equal((await callHello(`${origin}/mcp`, body.access_token)).status, 401)
  t.not((await callHello(`${origin}/mcp`, picked)).status, 200)
  const refreshed = await askForToken(metadata, {
    grant_type: 'refresh_token', client_id: clientId, refresh_token: String(body.refresh_token)
  })
  t.match(refreshed, { status: 401, body: { error: 'invalid_client' } })
  t.equal((await fetch(`${origin}/dev/keys`)).status, 404)
  t.equal((await fetch(`${origin}/dev/sign-in`)).status, 404)
})

t.test('serve refuses a picked token although it asks the desk itself for the keys', async (t) => {
  const { origin, issuer, folder, pick } = await startDev(t, { environment: { TRIVET_AUTH: 'jwt' } })
  const { url } = await startService(t, {
    TRIVET_AUTH: 'jwt', TRIVET_AUTH_ISSUERS: issuer, TRIVET_PUBLIC_URL: `${origin}/mcp`
  }, { args: ['serve', folder] })
  const token = await pick(ADA)
  t.equal((await callHello(`${origin}/mcp`, token)).status, 200)
  t.equal((await callHello(url, token)).status, 401)
})

t.test('is for this machine alone', async (t) => {
  const environment = { TRIVET_AUTH: 'sign-in' }
  const { origin, folder } = await startDev(t, { environment })
  const forwarded = await fetch(`${origin}/dev/sign-in`, { headers: { 'x-forwarded-for': '203.0.113.7' } })
  t.equal(forwarded.status, 403)
  t.match(await forwarded.text(), /^The desk answers /)
  const crossSite = await fetch(`${origin}/dev/sign-in`, {
    method: 'POST', headers: { origin: 'http://localhost:5173' }, body: new URLSearchParams({ subject: 'eve' })
  })
  t.equal(crossSite.status, 403)
  const faults = ['', '{', '[]'].map(async (claims) => await fetch(`${origin}/dev/sign-in`, {
    method: 'POST', body: new URLSearchParams({ subject: claims === '' ? '' : 'eve', claims })
  }))
  for (const { status } of await Promise.all(faults)) t.equal(status, 400)
  const args = ['dev', folder]
  t.match(await runService({ ...environment, HOST: '0.0.0.0' }, { args }), {
    code: 1, stderr: /TRIVET_AUTH has sign-in, which needs TRIVET_SIGN_IN/
  })
  const exposed = { ...environment, PORT: '3999', TRIVET_PUBLIC_URL: 'https://books.example/mcp' }
  t.match(await runService(exposed, { args }), { code: 1, stderr: /people sign in at the desk of dev/ })
})
