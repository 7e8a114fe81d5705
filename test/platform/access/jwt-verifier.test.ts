import { createPublicKey } from 'node:crypto'
import { base64url, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { createJwtVerifier } from '../../../src/platform/access/jwt-verifier.ts'
import { PRESETS } from '../../../src/platform/access/token-rules.ts'
import { startAuthorizationServer, type AuthorizationServer } from '../../servers/authorization-server.ts'

const AUDIENCE = 'https://books.example/mcp'
const INVALID = { name: 'AuthenticationError', code: 'invalid_token' }

const inSeconds = (seconds: number) => Math.round(Date.now() / 1000) + seconds

async function start (t: Test, alg = 'ES256') {
  const server = await startAuthorizationServer(t, { alg })
  const verifier = createJwtVerifier({
    issuers: [server.issuer], audiences: [{ audience: AUDIENCE }], rules: PRESETS.standard
  })
  const claims = {
    iss: server.issuer,
    aud: AUDIENCE,
    sub: 'ada',
    client_id: 'app',
    iat: inSeconds(0),
    exp: inSeconds(60),
    scope: 'books:read'
  }
  return { server, verifier, claims }
}

t.test('accepts the algorithms that need no shared secret (265)', async (t) => {
  for (const alg of ['RS256', 'PS384', 'ES384', 'EdDSA']) {
    const { server, verifier, claims } = await start(t, alg)
    t.equal((await verifier.verify(await server.sign(claims))).subject, 'ada', alg)
  }
})

t.test('refuses a token whose claims do not hold (265, 266, 267)', async (t) => {
  const { server, verifier, claims } = await start(t)
  const wrong: ReadonlyArray<readonly [string, object, RegExp]> = [
    ['another audience', { aud: 'https://other.example/mcp' }, /"aud"/],
    ['other audiences', { aud: ['https://other.example', `${AUDIENCE}/`] }, /"aud"/],
    ['no audience', { aud: undefined }, /"aud"/],
    ['an audience of another type', { aud: { [AUDIENCE]: true } }, /"aud"/],
    ['expired', { exp: inSeconds(-31) }, /"exp"/],
    ['no expiry', { exp: undefined }, /"exp"/],
    ['an expiry of another type', { exp: String(inSeconds(60)) }, /"exp"/],
    ['not valid yet', { nbf: inSeconds(45) }, /"nbf" claim\. The clock of this machine may be behind$/],
    ['a start of another type', { nbf: '0' }, /"nbf" claim must be a number/],
    ['an issue time of another type', { iat: '0' }, /"iat"/],
    ['no name', { sub: undefined, client_id: undefined }, /none of the claims sub, client_id/]
  ]
  for (const [name, change, message] of wrong) {
    const token = await server.sign({ ...claims, ...change })
    await t.rejects(verifier.verify(token), { ...INVALID, message }, name)
  }
})

t.test('allows clocks to differ by half a minute (265)', async (t) => {
  const { server, verifier, claims } = await start(t)
  for (const change of [{ exp: inSeconds(-20) }, { nbf: inSeconds(20) }, { iat: inSeconds(3600) }]) {
    t.equal((await verifier.verify(await server.sign({ ...claims, ...change }))).subject, 'ada')
  }
  t.equal((await verifier.verify(await server.sign({ ...claims, aud: ['x', AUDIENCE] }))).subject, 'ada')
})

t.test('refuses tokens of another type, such as ID tokens (265)', async (t) => {
  const { server, verifier, claims } = await start(t)
  for (const typ of ['JWT', 'id_token+jwt', 'logout+jwt', '', undefined, 5, ['at+jwt']]) {
    await t.rejects(
      verifier.verify(await server.sign(claims, { typ })), { ...INVALID, message: /typ of the JWT/ }, `${typ}`
    )
  }
  for (const typ of ['AT+JWT', 'application/at+jwt']) {
    t.equal((await verifier.verify(await server.sign(claims, { typ }))).subject, 'ada', typ)
  }
})

t.test('refuses a token without a signature (265)', async (t) => {
  const { verifier, claims } = await start(t)
  const encode = (value: object) => base64url.encode(JSON.stringify(value))
  for (const alg of ['none', 'None', 'NONE', '']) {
    const token = `${encode({ alg, typ: 'at+jwt' })}.${encode(claims)}.`
    await t.rejects(verifier.verify(token), INVALID, alg)
  }
})

t.test('refuses a token that is signed with the public key as a shared secret (265)', async (t) => {
  const { server, verifier, claims } = await start(t, 'RS256')
  const [jwk] = await server.publicKeys()
  const publicKey = createPublicKey({ key: { ...jwk } as Record<string, string>, format: 'jwk' })
  for (const secret of [
    publicKey.export({ type: 'spki', format: 'pem' }), publicKey.export({ type: 'spki', format: 'der' }),
    JSON.stringify(jwk)
  ]) {
    const token = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', ...(jwk?.kid !== undefined && { kid: jwk.kid }) })
      .sign(Buffer.from(secret))
    await t.rejects(verifier.verify(token), { ...INVALID, message: /"alg"/ })
  }
})

t.test('refuses a token that is signed with another key of the same name (265)', async (t) => {
  const { server, verifier, claims } = await start(t)
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const [jwk] = await server.publicKeys()
  const header = { alg: 'ES256', typ: 'at+jwt', kid: String(jwk?.kid) }
  const own = [{ jwk: { kty: 'oct' } }, { x5c: [await exportSPKI(publicKey)] }, { jku: server.issuer }]
  for (const more of [{}, ...own]) {
    const token = await new SignJWT(claims).setProtectedHeader({ ...header, ...more }).sign(privateKey)
    await t.rejects(verifier.verify(token), { ...INVALID, message: /signature/ })
  }
  const [head, , signature] = (await server.sign(claims)).split('.')
  const forged = base64url.encode(JSON.stringify({ ...claims, scope: 'admin' }))
  await t.rejects(verifier.verify(`${head}.${forged}.${signature}`), { ...INVALID, message: /signature/ })
})

t.test('refuses critical headers (265)', async (t) => {
  const { verifier, claims } = await start(t)
  const { privateKey } = await generateKeyPair('ES256')
  for (const header of [{ crit: ['b64'], b64: false }, { crit: ['exp'], exp: 1 }, { crit: [] }]) {
    const encode = (value: object) => base64url.encode(JSON.stringify(value))
    const token = `${encode({ alg: 'ES256', typ: 'at+jwt', ...header })}.${encode(claims)}.AAAA`
    await t.rejects(verifier.verify(token), INVALID, JSON.stringify(header))
  }
  await t.rejects(verifier.verify(
    await new SignJWT(claims).setProtectedHeader({ alg: 'ES256', crit: ['b64'], b64: true }).sign(privateKey)
  ), INVALID)
})

t.test('leaves tokens of other issuers and kinds to other verifiers, and asks nobody (265)', async (t) => {
  const { server, verifier, claims } = await start(t)
  for (const iss of [`${server.issuer}/`, server.issuer.toUpperCase(), 'https://evil.example']) {
    await t.rejects(
      verifier.verify(await server.sign({ ...claims, iss })),
      { ...INVALID, name: 'TokenNotKnown', message: `the issuer ${iss} is none of ${server.issuer}` }
    )
  }
  for (const token of ['opaque', 'trv_abc', 'a.b', 'a.b.c', '..', 'a.b.c.d.e', `x.${'W'.repeat(9000)}.y`]) {
    await t.rejects(verifier.verify(token), { ...INVALID, name: 'TokenNotKnown' }, token.slice(0, 20))
  }
  for (const iss of [undefined, 7, null]) {
    const token = await server.sign({ ...claims, iss })
    await t.rejects(verifier.verify(token), { ...INVALID, message: 'the JWT has no issuer' })
  }
  t.equal(server.allRequests(), 0)
})

t.test('each issuer has its own audiences, or those without an issuer (266)', async (t) => {
  const [first, second] = await Promise.all([startAuthorizationServer(t), startAuthorizationServer(t)])
  const verifier = createJwtVerifier({
    issuers: [first.issuer, second.issuer],
    audiences: [{ audience: 'common' }, { audience: 'other' }, { issuer: second.issuer, audience: 'own' }],
    rules: PRESETS.standard
  })
  const tokenFor = async (server: AuthorizationServer, aud: string, iss = server.issuer) => {
    return await server.sign({ iss, aud, sub: 'ada', exp: inSeconds(60) })
  }
  for (const [server, aud] of [[first, 'common'], [first, 'other'], [second, 'own']] as const) {
    t.equal((await verifier.verify(await tokenFor(server, aud))).issuer, server.issuer)
  }
  for (const [server, aud] of [[first, 'own'], [second, 'common']] as const) {
    await t.rejects(verifier.verify(await tokenFor(server, aud)), { ...INVALID, message: /"aud"/ })
  }
  await t.rejects(
    verifier.verify(await tokenFor(second, 'common', first.issuer)), INVALID, 'signed by the other issuer'
  )
})

t.test('no error contains the token (273)', async (t) => {
  const { server, verifier, claims } = await start(t)
  for (const token of [
    await server.sign({ ...claims, aud: 'other' }), await server.sign(claims, { typ: 'JWT' }),
    `${(await server.sign(claims)).slice(0, -4)}AAAA`, await server.sign({ ...claims, iss: 'other' }),
    'opaque-token'
  ]) {
    const error = await verifier.verify(token).catch((error: unknown) => error)
    const text = JSON.stringify(error, Object.getOwnPropertyNames(error))
    for (const part of token.split('.')) t.notMatch(text, part)
    t.notMatch(text, 'books:read', 'nor its claims')
  }
})

t.test('an issuer must be an https URL, except on this machine, and have an audience', async (t) => {
  const create = (issuer: string) => createJwtVerifier({
    issuers: [issuer], audiences: [{ audience: AUDIENCE }], rules: PRESETS.standard
  })
  for (const issuer of [
    'http://issuer.example', 'http://127.0.0.1.evil.example', 'ftp://127.0.0.1', 'issuer.example', '',
    'https://issuer.example/?a=b', 'https://issuer.example/#a'
  ]) t.throws(() => create(issuer), TypeError, issuer)
  for (const issuer of ['https://issuer.example/a', 'http://localhost:1', 'http://127.9.9.9', 'http://[::1]']) {
    t.doesNotThrow(() => create(issuer), issuer)
  }
  t.throws(() => createJwtVerifier({
    issuers: ['https://a.example'],
    audiences: [{ issuer: 'https://b.example', audience: 'x' }],
    rules: PRESETS.standard
  }), /no audience is accepted from https:\/\/a\.example/)
})
