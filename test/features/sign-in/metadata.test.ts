// Where clients find the authorization server, and what its metadata says.

import { mkdir, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { makeFolder } from '../../helpers/folder.ts'
import { findFreePort } from '../../helpers/free-port.ts'
import { hasNginx } from '../../servers/nginx.ts'
import { startProxy } from '../../servers/proxy.ts'
import {
  callHello, HELLO, readMetadata, registerClient, signIn, startSignInService, toAuthorization,
  toEndpoints
} from './sign-in-service.ts'

const RESOURCE_METADATA = '/.well-known/oauth-protected-resource'
const SERVER_METADATA = '/.well-known/oauth-authorization-server'
const NGINX = '/usr/sbin/nginx'

async function readJson (url: string) {
  const response = await fetch(url)
  return { response, body: await response.json() as Record<string, unknown> }
}

t.test('the metadata has exactly what clients may use (RFC 8414)', async (t) => {
  const { origin, endpoint } = await startSignInService(t)
  const { response, body } = await readJson(`${origin}${SERVER_METADATA}`)
  t.strictSame(body, {
    issuer: origin,
    authorization_endpoint: `${origin}/sign-in/authorize`,
    token_endpoint: `${origin}/sign-in/token`,
    registration_endpoint: `${origin}/sign-in/register`,
    revocation_endpoint: `${origin}/sign-in/revoke`,
    jwks_uri: `${origin}/sign-in/keys`,
    scopes_supported: ['offline_access'],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    token_endpoint_auth_signing_alg_values_supported: ['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519'],
    revocation_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    revocation_endpoint_auth_signing_alg_values_supported: ['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    protected_resources: [endpoint]
  })
  t.match(Object.fromEntries(response.headers), {
    'access-control-allow-origin': '*', 'cache-control': 'no-store', 'content-type': /^application\/json/
  })
  t.equal((await fetch(`${origin}/.well-known/openid-configuration`)).status, 404, 'it is no OpenID provider')
  const preflight = await fetch(`${origin}${SERVER_METADATA}`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://inspector.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'mcp-protocol-version'
    }
  })
  t.equal(preflight.status, 204)
  t.equal(preflight.headers.get('access-control-allow-headers'), '*')
})

t.test('the challenge of the endpoint leads there, and names the scopes (257, 258, 263, 264)', async (t) => {
  const files = { ...HELLO, 'sign-in.yaml': 'scopes: { books:read: everyone }' }
  const { origin, endpoint } = await startSignInService(t, { authScopes: ['books:read'] }, files)
  for (const [headers, error] of [
    [{}, undefined], [{ authorization: 'Bearer other' }, 'error="invalid_token"']
  ] as const) {
    const refused = await fetch(endpoint, { method: 'POST', headers })
    t.equal(refused.status, 401)
    const challenge = refused.headers.get('www-authenticate') ?? ''
    t.ok(challenge.startsWith('Bearer '))
    t.equal(/\berror="[^"]*"/.exec(challenge)?.[0], error)
    t.ok(challenge.includes(`resource_metadata="${origin}${RESOURCE_METADATA}/mcp"`), challenge)
    t.ok(challenge.includes('scope="books:read"'), challenge)
  }
  for (const path of [RESOURCE_METADATA, `${RESOURCE_METADATA}/mcp`]) {
    const { body } = await readJson(`${origin}${path}`)
    t.match(body, { resource: endpoint, authorization_servers: [origin], scopes_supported: ['books:read'] })
  }
})

const portOf = (app: FastifyInstance) => (app.server.address() as AddressInfo).port

async function startStrippingProxy (t: Test, port: number, target: number): Promise<void> {
  const folder = await makeFolder(t)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  await mkdir(join(folder, 'temporary'))
  const file = join(folder, 'nginx.conf')
  await writeFile(file, `events {} http { access_log off;
    ${temporary.map((name) => `${name}_temp_path ${join(folder, 'temporary', name)};`).join(' ')}
    server { listen 127.0.0.1:${port};
      proxy_set_header Host localhost;
      location /.well-known/ { proxy_pass http://127.0.0.1:${target}; }
      location /base/ { proxy_pass http://127.0.0.1:${target}/; } } }`)
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const settings = `daemon off; pid ${join(folder, 'nginx.pid')}; error_log stderr; ${user}`
  await startProxy(t, { program: NGINX, args: ['-p', folder, '-c', file, '-g', settings], port })
}

t.test('a proxy may take the prefix of the public URL away', async (t) => {
  if (!hasNginx(t)) return
  const port = await findFreePort()
  const issuer = `http://127.0.0.1:${port}/base`
  const { app } = await startSignInService(t, { publicUrl: `${issuer}/mcp` })
  await startStrippingProxy(t, port, portOf(app))
  const { body: resource } = await readJson(`http://127.0.0.1:${port}${RESOURCE_METADATA}/base/mcp`)
  t.match(resource, { resource: `${issuer}/mcp`, authorization_servers: [issuer] })
  const { body: metadata } = await readJson(`http://127.0.0.1:${port}${SERVER_METADATA}/base`)
  t.match(metadata, { issuer, token_endpoint: `${issuer}/sign-in/token`, jwks_uri: `${issuer}/sign-in/keys` })
  const { status, body, back } = await signIn(`http://127.0.0.1:${port}`, {}, '/base')
  t.equal(back.url.searchParams.get('iss'), issuer)
  t.equal(status, 200, JSON.stringify(body))
  const call = await callHello(`${issuer}/mcp`, body.access_token)
  t.equal(call.status, 200, call.body)
})

t.test('a service below a path serves it too, without a proxy', async (t) => {
  const port = await findFreePort()
  const { app, origin } = await startSignInService(t, {
    publicUrl: `http://127.0.0.1:${port}/base/mcp`, path: '/base/mcp'
  })
  t.ok(app)
  t.match(await readMetadata(origin, '/base'), { issuer: `http://127.0.0.1:${port}/base` })
  t.equal((await fetch(`${origin}/base/sign-in/keys`)).status, 200)
})

t.test('a service behind a proxy with TLS names the public URL alone', async (t) => {
  const { origin, endpoint } = await startSignInService(t, { publicUrl: 'https://tools.example/mcp' })
  t.equal(endpoint, `${origin}/mcp`)
  const metadata = await readMetadata(origin)
  t.equal(metadata.issuer, 'https://tools.example')
  const endpoints = toEndpoints(origin)
  const { url } = toAuthorization(endpoints, { clientId: await registerClient(endpoints) })
  const answer = await fetch(url, { redirect: 'manual' })
  t.equal(answer.status, 303, await answer.text())
  t.match(answer.headers.get('location'), /^\/sign-in\/consent\//)
  const cookies = answer.headers.getSetCookie()
  t.ok(cookies.length > 0)
  for (const cookie of cookies) t.match(cookie, /^__Secure-.*; secure; httponly/i)
})
