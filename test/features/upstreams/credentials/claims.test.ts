import { once } from 'node:events'
import { createServer } from 'node:http'
import { calculateJwkThumbprint, createRemoteJWKSet, jwtVerify } from 'jose'
import Fastify from 'fastify'
import t from 'tap'
import { ANONYMOUS, type Principal } from '../../../../src/platform/access/principal.ts'
import type { ClaimsAuth } from '../../../../src/platform/author/upstream-auth.ts'
import { registerSigningKeys } from '../../../../src/edges/http/signing-keys.ts'
import { createSealer } from '../../../../src/platform/store/sealing/sealer.ts'
import { createSigningKeys, type SigningKeys } from '../../../../src/platform/store/sealing/signing-keys.ts'
import { createClaimsCredential } from '../../../../src/features/upstreams/credentials/claims.ts'
import type { CredentialCaller } from '../../../../src/features/upstreams/credentials/credential.ts'

const ISSUER = 'https://mcp.example.com/mcp'
const ALICE: Principal = {
  subject: 'alice',
  clientId: 'app',
  issuer: 'https://id.example',
  scopes: new Set(['books:read']),
  claims: { sub: 'alice', tenant: 'books', email: 'CANARY@books.example' }
}

const keysOf = (...secrets: string[]) => createSigningKeys(createSealer(secrets))
const { signal } = new AbortController()
const callerOf = (principal: Principal): CredentialCaller => ({ principal, signal })

function open (auth: Omit<ClaimsAuth, 'type'>, keys: SigningKeys = keysOf('first')) {
  return createClaimsCredential({ type: 'claims', ...auth }, {
    readClaims: () => undefined,
    openSigner: () => ({ issuer: ISSUER, key: keys.current.privateKey, kid: keys.current.publicKey.kid })
  })
}

async function tokenOf (keys: SigningKeys, auth: ClaimsAuth['jwt'] = { audience: 'crm' }): Promise<string> {
  const { authorization = '' } = await open({ jwt: auth }, keys).headers(callerOf(ALICE))
  return authorization.replace('Bearer ', '')
}

t.test('headers are made of the claims of each caller', async (t) => {
  const credential = open({ headers: ({ sub, tenant }) => ({ 'X-User': `${sub}@${tenant}` }) })
  t.strictSame(credential.headers(callerOf(ALICE)), { 'x-user': 'alice@books' })
  t.equal(credential.forget, undefined, 'there is nothing to forget')
})

t.test('a static token has only its subject, and an anonymous caller has no claims', async (t) => {
  const credential = open({ headers: (claims) => ({ 'x-user': JSON.stringify(claims) }) })
  const ci = { subject: 'ci', scopes: new Set<string>() }
  t.strictSame(credential.headers(callerOf(ci)), { 'x-user': '{"sub":"ci"}' })
  t.throws(() => credential.headers(callerOf(ANONYMOUS)), { name: 'CredentialError', failure: 'caller' })
})

t.test('headers that a definition cannot set, and errors, show no claim', async (t) => {
  const cases: ReadonlyArray<readonly [unknown, RegExp]> = [
    [{ Authorization: 'CANARY' }, /"authorization", which a definition cannot set/],
    [{ HOST: 'CANARY' }, /"host"/],
    [{ 'Transfer-Encoding': 'CANARY' }, /"transfer-encoding"/],
    [{ 'x-user': 'CANARY\r\nx-admin: yes' }, /"x-user" with characters/],
    [{ 'x-user': 'CANARY\u0000' }, /"x-user" with characters/],
    [{ 'x-user': 'CANARY Łukasz' }, /encode them/],
    [{ 'x CANARY:': 'a' }, /a name that no header can have/],
    [{ 'x-user': 5 }, /not a text/],
    [{ 'x-user': 'a', 'X-User': 'CANARY' }, /twice/],
    [{ 'x-user': 'CANARY'.repeat(2000) }, /8192 characters/],
    [undefined, /must return an object/],
    [Promise.resolve({}), /must return an object/],
    [Promise.reject(new Error('CANARY')), /must return an object/],
    [new Headers({ 'x-user': 'CANARY' }), /must return an object/],
    [new Map([['x-user', 'CANARY']]), /must return an object/],
    [['CANARY'], /must return an object/],
    [{ get 'x-user' () { throw new Error('CANARY') } }, /auth.headers threw Error/],
    // A claim that the token lacks.
    [{ 'x-user': undefined }, /not a text/]
  ]
  for (const [value, message] of cases) {
    const credential = open({ headers: () => value as Record<string, string> })
    const error = catchError(() => credential.headers(callerOf(ALICE)))
    t.match(error, { name: 'CredentialError', failure: 'caller', message })
    t.notMatch(String(error.message), /CANARY/)
    t.equal(error.cause, undefined)
  }
  const throwing = open({ headers: ({ email }) => { throw new RangeError(`bad email ${email}`) } })
  const error = catchError(() => throwing.headers(callerOf(ALICE)))
  t.equal(error.message, 'the function auth.headers threw RangeError')
})

t.test('a JWT about nobody is not signed', async (t) => {
  for (const claims of [{ sub: undefined }, { sub: '' }, { sub: 7 }]) {
    const credential = open({ jwt: { audience: 'crm', claims: () => claims } })
    await t.rejects(async () => await credential.headers(callerOf(ALICE)), { failure: 'caller', message: /sub/ })
  }
})

function catchError (run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('it did not throw')
}

t.test('a JWT says who calls, for one minute, and its functions cannot change who signs', async (t) => {
  const keys = keysOf('first')
  const key = await importPublic(keys)
  const before = Math.floor(Date.now() / 1000)
  const { payload, protectedHeader } = await jwtVerify(
    await tokenOf(keys, { audience: 'crm', claims: ({ tenant }) => ({ tenant }) }), key,
    { issuer: ISSUER, audience: 'crm', algorithms: ['ES256'], requiredClaims: ['jti', 'iat'] }
  )
  t.match(payload, { sub: 'alice', tenant: 'books' })
  t.equal((payload.exp ?? 0) - (payload.iat ?? 0), 60)
  t.ok((payload.iat ?? 0) >= before)
  t.equal(protectedHeader.kid, keys.current.publicKey.kid)
  const others = await Promise.all([tokenOf(keys), tokenOf(keys)])
  t.not(others[0], others[1], 'each has its own jti')
  for (const name of ['iss', 'aud', 'iat', 'nbf', 'exp', 'jti']) {
    await t.rejects(tokenOf(keys, { audience: 'crm', claims: () => ({ [name]: 'CANARY' }) }), {
      name: 'CredentialError', message: `auth.jwt.claims returned ${name}, which this service sets`
    })
  }
  for (const claims of [() => ({ sub: 5 }), () => ({ a: 5n }), () => 5 as unknown as object, () => {
    throw new Error('CANARY')
  }]) {
    await t.rejects(tokenOf(keys, { audience: 'crm', claims: claims as () => Record<string, unknown> }), {
      name: 'CredentialError', message: /^(?!.*CANARY)/
    })
  }
  const both = open({ headers: () => ({ 'x-a': 'b' }), jwt: { audience: 'crm' } })
  t.match(await both.headers(callerOf(ALICE)), {
    'x-a': 'b', authorization: /^Bearer ey/
  })
})

async function importPublic (keys: SigningKeys) {
  const { createLocalJWKSet } = await import('jose')
  return createLocalJWKSet(JSON.parse(keys.jwks))
}

t.test('all replicas derive one key from a secret, and its name is its thumbprint', async (t) => {
  for (const secret of Array.from({ length: 50 }, (_, i) => `secret ${i}`)) {
    const [one, other] = [keysOf(secret), keysOf(secret)]
    t.equal(one.jwks, other.jwks)
    const { kid, ...key } = one.current.publicKey
    t.equal(kid, await calculateJwkThumbprint(key, 'sha256'))
    await t.resolves(jwtVerify(await tokenOf(one), await importPublic(other)))
    t.notMatch(one.jwks, /"d"/)
  }
  t.not(keysOf('a').jwks, keysOf('b').jwks)
})

t.test('an upstream verifies JWTs over HTTP, while the secrets are replaced', async (t) => {
  let keys: SigningKeys | undefined
  const app = Fastify()
  app.register(async (open) => registerSigningKeys(open, { readKeys: () => keys?.jwks }))
  t.teardown(async () => await app.close())
  const url = new URL(`${await app.listen({ port: 0, host: '127.0.0.1' })}/.well-known/jwks.json`)
  t.equal((await fetch(url)).status, 404, 'no upstream gets JWTs')

  const [old, added] = [keysOf('old'), keysOf('old', 'new')]
  const [swapped, renewed] = [keysOf('new', 'old'), keysOf('new')]
  keys = old
  const { status, headers } = await fetch(url)
  t.equal(status, 200)
  t.equal(headers.get('cache-control'), 'public, max-age=300')
  t.match(headers.get('content-type'), /^application\/jwk-set\+json/)
  t.equal((await fetch(url, { method: 'HEAD' })).status, 200)

  const openUpstream = () => {
    const remote = createRemoteJWKSet(url, { cooldownDuration: 0 })
    const expected = { issuer: ISSUER, audience: 'crm' }
    return async (token: string) => (await jwtVerify(token, remote, expected)).payload.sub
  }
  const upstream = openUpstream()
  const stages: ReadonlyArray<readonly [published: SigningKeys, signing: readonly SigningKeys[]]> = [
    [old, [old]], [added, [old, added]], [swapped, [added, swapped, old]], [swapped, [swapped, renewed]],
    [renewed, [renewed, swapped]]
  ]
  for (const [published, signing] of stages) {
    keys = published
    for (const one of signing) t.equal(await upstream(await tokenOf(one)), 'alice')
  }
  await t.rejects(openUpstream()(await tokenOf(old)), { code: 'ERR_JWKS_NO_MATCHING_KEY' })
  await t.rejects(upstream(await tokenOf(keysOf('forged'))), { code: 'ERR_JWKS_NO_MATCHING_KEY' })
})

t.test('a client reads headers of claims as they were made', async (t) => {
  const server = createServer((request, response) => response.end(JSON.stringify(request.headers)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const credential = open({ headers: ({ email }) => ({ 'x-mail': String(email), 'x-name': 'José' }) })
  const sent = await credential.headers(callerOf(ALICE))
  const answer = await fetch(`http://127.0.0.1:${port}`, { headers: sent })
  const headers = await answer.json() as Record<string, string>
  t.equal(headers['x-mail'], 'CANARY@books.example')
})
