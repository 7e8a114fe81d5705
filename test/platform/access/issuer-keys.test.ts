import { exportJWK, generateKeyPair } from 'jose'
import t, { type Test } from 'tap'
import { createIssuerKeys } from '../../../src/platform/access/issuer-keys.ts'
import { createJwtVerifier, type JwtVerifierOptions } from '../../../src/platform/access/jwt-verifier.ts'
import { PRESETS } from '../../../src/platform/access/token-rules.ts'
import {
  startAuthorizationServer, type AuthorizationServerSettings
} from '../../servers/authorization-server.ts'
import { until } from '../../helpers/deadline.ts'

const AUDIENCE = 'https://books.example/mcp'
const INVALID = { name: 'AuthenticationError', code: 'invalid_token' }
const UNAVAILABLE = { name: 'AuthenticationUnavailable' }

async function start (
  t: Test, options: Partial<JwtVerifierOptions> = {}, settings: AuthorizationServerSettings = {}
) {
  const server = await startAuthorizationServer(t, settings)
  const verifier = createJwtVerifier({
    issuers: [server.issuer], audiences: [{ audience: AUDIENCE }], rules: PRESETS.standard, ...options
  })
  const seconds = Math.round(Date.now() / 1000)
  const mint = async (header = {}, claims = {}) => await server.sign({
    iss: server.issuer, aud: AUDIENCE, sub: 'ada', iat: seconds - 60, exp: seconds + 60, ...claims
  }, header)
  return { server, verifier, mint }
}

const METADATA = '/.well-known/oauth-authorization-server'

t.test('the server is asked at the first token, once for its metadata and once for its keys', async (t) => {
  const { server, verifier, mint } = await start(t)
  t.equal(server.allRequests(), 0)
  const tokens = await Promise.all(Array.from({ length: 20 }, async () => await mint()))
  await Promise.all(tokens.map(async (token) => await verifier.verify(token)))
  t.strictSame([server.requestsOf(METADATA), server.requestsOf('/jwks'), server.allRequests()], [1, 1, 2])
})

t.test('a new key is found at its first token (265)', async (t) => {
  const { server, verifier, mint } = await start(t, { keysCooldownMs: 0 })
  const old = await mint()
  await verifier.verify(old)
  await server.rotateKeys({ keepsOld: true })
  t.equal((await verifier.verify(await mint())).subject, 'ada')
  t.equal((await verifier.verify(old)).subject, 'ada')
  await server.rotateKeys()
  t.equal((await verifier.verify(await mint())).subject, 'ada')
  await t.rejects(verifier.verify(old), INVALID, 'the old key is published no more')
})

t.test('an unknown kid asks once, and a flood of them does not ask again', async (t) => {
  const { server, verifier, mint } = await start(t, { keysCooldownMs: 2000 })
  await verifier.verify(await mint())
  const flood = async () => await Promise.all(Array.from({ length: 200 }, async (_, i) => {
    const token = await mint({ kid: `unknown-${i}` }, { iat: undefined })
    await t.rejects(verifier.verify(token), INVALID)
  }))
  await flood()
  const before = server.requestsOf('/jwks')
  t.ok(before <= 2, `${before} requests within the cooldown`)
  await until(async () => {
    await verifier.verify(await mint({ kid: 'unknown' })).catch(() => {})
    return server.requestsOf('/jwks') > before
  }, 'one request after the cooldown')
  await server.stop()
  const token = await mint({ kid: 'unknown' }, { iat: undefined })
  await t.rejects(verifier.verify(token), INVALID, 'within the cooldown again')
  t.equal((await verifier.verify(await mint())).subject, 'ada', 'known keys need no server')
})

t.test('a new key is unavailable until the keys may be read again, and an old one is refused', async (t) => {
  const { server, verifier, mint } = await start(t)
  const old = await mint()
  await verifier.verify(old)
  await server.rotateKeys()
  const iat = Math.round(Date.now() / 1000)
  await t.rejects(verifier.verify(await mint({}, { iat })), { ...UNAVAILABLE, message: /may not be read again/ })
  await t.rejects(verifier.verify(await mint({}, { iat: undefined })), INVALID, 'nobody knows when')
  const before = await mint({ kid: 'gone' }, { iat: iat - 301 })
  await t.rejects(verifier.verify(before), INVALID, 'issued before the keys were read')
  // The clock of this machine is ahead.
  await t.rejects(verifier.verify(await mint({}, { iat: iat - 290 })), UNAVAILABLE)
  t.equal(server.requestsOf('/jwks'), 1)
})

t.test('a key that the server does not publish is refused by the request that reads the keys', async (t) => {
  const { server, verifier, mint } = await start(t, { keysCooldownMs: 0 })
  await t.rejects(verifier.verify(await mint({ kid: 'x' }, { iat: Math.round(Date.now() / 1000) })), INVALID)
  t.ok(server.requestsOf('/jwks') > 0)
})

t.test('metadata cannot name keys inside the network of this service', async (t) => {
  const fetch = async () => await Promise.reject(new Error('asked'))
  const findKey = createIssuerKeys({
    issuer: 'https://issuer.example',
    fetch,
    readMetadata: async () => ({ issuer: 'https://issuer.example', jwks_uri: 'http://127.0.0.1:9200/' })
  }, {})
  await t.rejects(findKey({ alg: 'ES256' }, { payload: '', signature: '' }), {
    ...UNAVAILABLE, message: /inside this network/
  })
})

t.test('the default cooldown holds a flood to the first request', async (t) => {
  const { server, verifier, mint } = await start(t)
  await verifier.verify(await mint())
  for (let i = 0; i < 50; i++) {
    const token = await mint({ kid: `unknown-${i}` }, { iat: undefined })
    await t.rejects(verifier.verify(token), INVALID)
  }
  t.equal(server.requestsOf('/jwks'), 1)
})

t.test('a server that is down is unavailable, is not asked by each token, and may come back', async (t) => {
  let now = 0
  const { server, verifier, mint } = await start(t, { now: () => now, cooldownMs: 5000 })
  const token = await mint()
  await server.stop()
  await t.rejects(verifier.verify(token), { ...UNAVAILABLE, message: /metadata of .*ECONNREFUSED/ })
  await server.start()
  await t.rejects(verifier.verify(token), UNAVAILABLE)
  t.equal(server.allRequests(), 0, 'not asked within the cooldown')
  now = 5000
  t.equal((await verifier.verify(token)).subject, 'ada')
})

t.test('keys that cannot be read are unavailable, and asked for again after a cooldown', async (t) => {
  for (const [status, body] of [
    [500, '{}'], [404, ''], [302, ''],
    [200, '{}'], [200, '<html>'], [200, 'null'], [200, '{"keys":1}'], [200, 'x'.repeat(600_000)]
  ] as const) {
    let now = 0
    const { server, verifier, mint } = await start(t, { now: () => now, cooldownMs: 5000 })
    server.replaceAnswer('/jwks', (response) => {
      response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' }).end(body)
    })
    const token = await mint()
    for (let i = 0; i < 3; i++) {
      await t.rejects(verifier.verify(token), { ...UNAVAILABLE, message: /^The keys of / }, `status ${status}`)
    }
    t.equal(server.requestsOf('/jwks'), 1, 'not asked within the cooldown')
    server.replaceAnswer('/jwks')
    now = 5000
    t.equal((await verifier.verify(token)).subject, 'ada')
    t.equal(server.requestsOf('/elsewhere'), 0)
  }
})

t.test('a token that names no key is tried with each that may be its own', async (t) => {
  const { server, verifier, mint } = await start(t)
  const token = await mint({ kid: undefined })
  const [own] = await server.publicKeys()
  const others = await Promise.all(Array.from({ length: 10 }, async () => {
    const { publicKey } = await generateKeyPair('ES256', { extractable: true })
    return { ...await exportJWK(publicKey), alg: 'ES256', use: 'sig' }
  }))
  const publish = (keys: unknown[]) => server.replaceAnswer('/jwks', (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }))
  })
  publish([null, 5, { kty: 'EC' }, ...others.slice(0, 9), own])
  t.equal((await verifier.verify(token)).subject, 'ada')
  const [head, payload] = token.split('.')
  await t.rejects(verifier.verify(`${head}.${payload}.${'A'.repeat(86)}`), { ...INVALID, message: /signature/ })
  await t.rejects(verifier.verify(await mint({ kid: undefined }, { aud: 'x' })), { ...INVALID, message: /"aud"/ })
  const second = createJwtVerifier({
    issuers: [server.issuer], audiences: [{ audience: AUDIENCE }], rules: PRESETS.standard
  })
  publish([...others, own])
  await t.rejects(second.verify(token), { ...INVALID, message: /signature/ }, 'the eleventh key')
})

t.test('many tokens share the failure of the keys', async (t) => {
  const { server, verifier, mint } = await start(t)
  server.replaceAnswer('/jwks', (response) => { response.writeHead(503).end() })
  for (let i = 0; i < 20; i++) await t.rejects(verifier.verify(await mint()), UNAVAILABLE)
  t.equal(server.requestsOf('/jwks'), 1)
})

t.test('while the server is down, the keys that were read last count', async (t) => {
  const { server, verifier, mint } = await start(t, { keysMaxAgeMs: 0, keysCooldownMs: 0 })
  await verifier.verify(await mint())
  await server.stop()
  t.equal((await verifier.verify(await mint())).subject, 'ada')
  await t.rejects(verifier.verify(await mint({ kid: 'new' })), UNAVAILABLE, 'a key that may be new')
})
