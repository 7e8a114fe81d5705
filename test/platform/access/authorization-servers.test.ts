import t, { type Test } from 'tap'
import { openIssuer } from '../../../src/platform/access/authorization-servers.ts'
import { startAuthorizationServer } from '../../servers/authorization-server.ts'
import type { ProviderName } from '../../servers/provider-behaviors.ts'

const OAUTH = '/.well-known/oauth-authorization-server'
const OPENID = '/.well-known/openid-configuration'
const UNAVAILABLE = { name: 'AuthenticationUnavailable' }

/** A server whose metadata is the given text at both places. */
async function startWith (t: Test, metadata: (issuer: string) => string, contentType = 'application/json') {
  const server = await startAuthorizationServer(t)
  for (const path of [OAUTH, OPENID]) {
    server.replaceAnswer(path, (response) => {
      response.writeHead(200, { 'content-type': contentType }).end(metadata(server.issuer))
    })
  }
  return server
}

t.test('finds the metadata at the place of RFC 8414 or of OpenID Connect', async (t) => {
  for (const behavesAs of ['standard', 'entra', 'auth0', 'keycloak', 'okta'] satisfies ProviderName[]) {
    const server = await startAuthorizationServer(t, { behavesAs })
    const { issuer, jwks_uri: uri } = await openIssuer(server.issuer).readMetadata()
    t.equal(issuer, server.issuer)
    t.equal(uri, `${server.issuer.replace(/\/$/, '')}/jwks`)
    t.equal(server.allRequests(), behavesAs === 'entra' ? 2 : 1, behavesAs)
  }
})

t.test('the issuer is compared exactly, and the log is told the other one (265)', async (t) => {
  const server = await startAuthorizationServer(t)
  await t.rejects(openIssuer(`${server.issuer}/`).readMetadata(), {
    ...UNAVAILABLE,
    message: `The metadata of ${server.issuer}/ cannot be read: the server says that its issuer is ${server.issuer}`
  })
  for (const issuer of ['"https://other.example"', '7', 'null', '""']) {
    const other = await startWith(t, () => `{"issuer":${issuer},"jwks_uri":"http://127.0.0.1/jwks"}`)
    await t.rejects(openIssuer(other.issuer).readMetadata(), UNAVAILABLE, issuer)
  }
})

t.test('metadata that is no metadata is unavailable', async (t) => {
  for (const text of ['', 'null', '[]', '<html>', '{', '{}']) {
    const server = await startWith(t, () => text)
    await t.rejects(openIssuer(server.issuer).readMetadata(), UNAVAILABLE, text)
    t.equal(server.allRequests(), 2, 'both places are asked')
  }
})

t.test('giant metadata is not read to its end', async (t) => {
  const server = await startAuthorizationServer(t)
  let sent = 0
  server.replaceAnswer(OAUTH, (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const send = () => { while (!response.destroyed && response.write(' '.repeat(65_536))) sent += 65_536 }
    response.on('drain', send)
    send()
  })
  await t.rejects(openIssuer(server.issuer).readMetadata(), { ...UNAVAILABLE, message: /more than 524288 bytes/ })
  t.ok(sent < 50_000_000, `${sent} bytes were sent`)
})

t.test('a slow server is unavailable at the deadline, whether it sends nothing or a part', async (t) => {
  const limits = { timeoutMs: 1000, maxBytes: 10_000 }
  const slow = await startAuthorizationServer(t)
  slow.slowDown(60_000)
  await t.rejects(openIssuer(slow.issuer, { limits }).readMetadata(), { ...UNAVAILABLE, message: /timeout/ })
  t.equal(slow.allRequests(), 1, 'the other place is not waited for')
  const stuck = await startAuthorizationServer(t)
  stuck.replaceAnswer(OAUTH, (response) => { response.writeHead(200).write('{') })
  await t.rejects(openIssuer(stuck.issuer, { limits }).readMetadata(), { ...UNAVAILABLE, message: /timeout/ })
})

t.test('redirects are not followed', async (t) => {
  const server = await startAuthorizationServer(t)
  for (const path of [OAUTH, OPENID]) {
    server.replaceAnswer(path, (response) => { response.writeHead(302, { location: '/elsewhere' }).end() })
  }
  await t.rejects(openIssuer(server.issuer).readMetadata(), UNAVAILABLE)
  t.equal(server.requestsOf('/elsewhere'), 0)
})

t.test('metadata is read again after an hour, and the old serves while the server is down', async (t) => {
  let now = 0
  const server = await startAuthorizationServer(t)
  const { readMetadata } = openIssuer(server.issuer, { now: () => now, cooldownMs: 5000 })
  const first = await readMetadata()
  now = 3_599_999
  t.equal(await readMetadata(), first)
  t.equal(server.allRequests(), 1)
  await server.stop()
  now = 3_600_000
  t.equal(await readMetadata(), first)
  await server.start()
  t.equal(await readMetadata(), first)
  t.equal(server.allRequests(), 1, 'not asked within the cooldown')
  now += 5000
  t.not(await readMetadata(), first)
  t.equal(server.allRequests(), 2)
})

t.test('concurrent callers share one request', async (t) => {
  const server = await startAuthorizationServer(t)
  const { readMetadata } = openIssuer(server.issuer)
  await Promise.all(Array.from({ length: 20 }, readMetadata))
  t.equal(server.allRequests(), 1)
})
