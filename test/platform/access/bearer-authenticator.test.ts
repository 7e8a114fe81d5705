import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import {
  AuthenticationError, AuthenticationUnavailable, TokenNotKnown
} from '../../../src/platform/access/authentication.ts'
import { createBearerAuthenticator } from '../../../src/platform/access/bearer-authenticator.ts'
import { createIntrospectionVerifier } from '../../../src/platform/access/introspection-verifier.ts'
import { createJwtVerifier } from '../../../src/platform/access/jwt-verifier.ts'
import { ANONYMOUS, type Principal } from '../../../src/platform/access/principal.ts'
import { createStaticToken } from '../../../src/platform/access/static-token-file.ts'
import { openStaticTokens } from '../../../src/platform/access/static-tokens.ts'
import { PRESETS } from '../../../src/platform/access/token-rules.ts'
import type { TokenVerifier } from '../../../src/platform/access/token.ts'
import { startAuthorizationServer } from '../../servers/authorization-server.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { createReadableLog } from '../../helpers/log.ts'

const START = 1_000_000_000_000

/** Knows every token. The subject is the token. */
function createCountingVerifier (
  { maxAgeMs = 300_000, expiresAt }: { readonly maxAgeMs?: number, readonly expiresAt?: number } = {}
): TokenVerifier & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    maxAgeMs,
    async verify (token) {
      asked.push(token)
      return { subject: token, scopes: new Set(), ...(expiresAt !== undefined && { expiresAt }) }
    }
  }
}

const failing = (error: Error): TokenVerifier => ({ maxAgeMs: 0, verify: async () => { throw error } })

t.test('the second request with a token is answered without a promise, and asks nobody (265)', async (t) => {
  const server = await startAuthorizationServer(t)
  const { access_token: token } = await server.clientCredentials({ scope: 'books:read' })
  const authenticator = createBearerAuthenticator([createJwtVerifier({
    issuers: [server.issuer], audiences: [{ audience: 'https://books.example/mcp' }], rules: PRESETS.standard
  })])
  const first = await authenticator.authenticate(`Bearer ${token}`)
  t.strictSame([first.subject, [...first.scopes]], ['machine', ['books:read']])
  const requests = server.allRequests()
  await server.stop()
  t.equal(authenticator.authenticate(`bearer ${token}`), first, 'not a promise')
  t.equal(server.allRequests(), requests)
})

t.test('a kept token outlives neither its expiry, its verifier\'s time nor five minutes (265)', async (t) => {
  for (const [ms, verifier] of [
    [1500, createCountingVerifier({ expiresAt: START + 1500 })],
    [60_000, createCountingVerifier({ maxAgeMs: 60_000, expiresAt: START + 1e9 })],
    [300_000, createCountingVerifier({ maxAgeMs: Infinity })]
  ] as const) {
    let now = START
    const { authenticate } = createBearerAuthenticator([verifier], { now: () => now })
    await authenticate('Bearer a')
    now = START + ms - 1
    await authenticate('Bearer a')
    t.equal(verifier.asked.length, 1)
    now = START + ms
    await authenticate('Bearer a')
    t.equal(verifier.asked.length, 2, `asked again after ${ms} ms`)
  }
})

t.test('a token is not kept if its verifier says so, or if it has expired already', async (t) => {
  for (const verifier of [
    createCountingVerifier({ maxAgeMs: 0 }), createCountingVerifier({ expiresAt: START })
  ]) {
    const { authenticate } = createBearerAuthenticator([verifier], { now: () => START })
    await authenticate('Bearer a')
    await authenticate('Bearer a')
    t.equal(verifier.asked.length, 2)
  }
})

t.test('the number of kept tokens is bounded: the least used leaves', async (t) => {
  const verifier = createCountingVerifier()
  const { authenticate } = createBearerAuthenticator([verifier], { maxTokens: 100 })
  for (let i = 0; i < 100; i++) await authenticate(`Bearer t${i}`)
  await authenticate('Bearer t0')
  t.equal(verifier.asked.length, 100)
  await authenticate('Bearer t100')
  await authenticate('Bearer t0')
  t.equal(verifier.asked.length, 101, 'the used one is still there')
  await authenticate('Bearer t1')
  t.equal(verifier.asked.length, 102)
})

t.test('long tokens are cached in a smaller number', async (t) => {
  const verifier = createCountingVerifier()
  const { authenticate } = createBearerAuthenticator([verifier])
  const toToken = (number: number) => `Bearer ${String(number).padStart(16_000, 'a')}`
  for (let number = 0; number < 2200; number++) await authenticate(toToken(number))
  await authenticate(toToken(2199))
  t.equal(verifier.asked.length, 2200, 'the last one is there')
  await authenticate(toToken(0))
  t.equal(verifier.asked.length, 2201, 'the first one has left')
})

t.test('concurrent requests with one token share its verification, also when it fails', async (t) => {
  let fail = (_: Error) => {}
  let count = 0
  const { authenticate } = createBearerAuthenticator([{
    maxAgeMs: 1000,
    async verify () {
      count++
      return await new Promise<Principal>((resolve, reject) => { fail = reject })
    }
  }])
  const results = Array.from({ length: 50 }, async () => await authenticate('Bearer a'))
  fail(new AuthenticationError('invalid_token', 'no'))
  const settled = await Promise.allSettled(results)
  t.equal(count, 1)
  t.ok(settled.every(({ status }) => status === 'rejected'))
  const later = authenticate('Bearer a')
  t.equal(count, 2, 'a failure is not kept')
  fail(new AuthenticationError('invalid_token', 'no'))
  await t.rejects(Promise.resolve(later))
})

t.test('verifiers are asked in order, until one knows the token', async (t) => {
  const [first, second] = [createCountingVerifier(), createCountingVerifier()]
  const { authenticate } = createBearerAuthenticator([failing(new TokenNotKnown('not mine')), first, second])
  t.equal((await authenticate('Bearer a')).subject, 'a')
  t.strictSame([first.asked, second.asked], [['a'], []])
})

t.test('a token that a verifier knows and refuses is refused', async (t) => {
  const second = createCountingVerifier()
  const refusal = new AuthenticationError('invalid_token', 'expired')
  const { authenticate } = createBearerAuthenticator([failing(refusal), second])
  await t.rejects(Promise.resolve(authenticate('Bearer a')), refusal)
  t.strictSame(second.asked, [])
})

t.test('a token that nobody knows is invalid, and the log is told why (263)', async (t) => {
  const { authenticate } = createBearerAuthenticator([
    failing(new TokenNotKnown('it is not a JWT')), failing(new TokenNotKnown('it has no prefix'))
  ])
  await t.rejects(Promise.resolve(authenticate('Bearer sesame')), {
    name: 'AuthenticationError',
    code: 'invalid_token',
    message: 'no verifier knows the token: it is not a JWT; it has no prefix'
  })
})

t.test('a server that is down decides only if no other verifier knows the token', async (t) => {
  const down = failing(new AuthenticationUnavailable('down'))
  const alone = createBearerAuthenticator([down, failing(new TokenNotKnown('not mine'))])
  await t.rejects(Promise.resolve(alone.authenticate('Bearer a')), { name: 'AuthenticationUnavailable' })
  const helped = createBearerAuthenticator([down, createCountingVerifier()])
  t.equal((await helped.authenticate('Bearer a')).subject, 'a')
})

t.test('a request without a token is refused without a code, unless anyone may call (263)', async (t) => {
  const strict = createBearerAuthenticator([createCountingVerifier()])
  for (const header of [undefined, 'Basic YTpi']) {
    t.throws(() => strict.authenticate(header), { name: 'AuthenticationError', code: undefined })
  }
  const open = createBearerAuthenticator([createCountingVerifier()], { anonymous: true })
  t.equal(open.authenticate(undefined), ANONYMOUS)
  t.equal((await open.authenticate('Bearer a')).subject, 'a')
  t.throws(() => open.authenticate('Bearer'), { code: 'invalid_request' }, 'a broken token is not anonymous')
})

t.test('static tokens, JWTs and opaque tokens are accepted side by side (265)', async (t) => {
  const [jwts, opaque] = await Promise.all([
    startAuthorizationServer(t), startAuthorizationServer(t, { format: 'opaque' })
  ])
  const { token, entry } = createStaticToken({
    subject: 'ci', scopes: [], expiresAt: new Date('2100-01-01T00:00:00Z')
  })
  const file = join(await makeFolder(t), 'tokens.yaml')
  await writeFile(file, entry)
  const common = { audiences: [{ audience: 'https://books.example/mcp' }], rules: PRESETS.standard }
  const authenticator = createBearerAuthenticator([
    await openStaticTokens(file, createReadableLog().logger),
    createJwtVerifier({ ...common, issuers: [jwts.issuer] }),
    createIntrospectionVerifier({
      ...common, issuer: opaque.issuer, client: { clientId: 'books', secret: 'books-secret' }
    })
  ])
  t.teardown(async () => await authenticator.close())
  const issuerOf = async (text: string) => (await authenticator.authenticate(`Bearer ${text}`)).issuer
  t.equal(await issuerOf(token), undefined)
  t.equal(await issuerOf((await jwts.clientCredentials()).access_token), jwts.issuer)
  t.equal(await issuerOf((await opaque.clientCredentials()).access_token), opaque.issuer)
  await t.rejects(issuerOf('unknown'), {
    code: 'invalid_token', message: /begin with trv_.*not a JWT.*not active/
  })
})

t.test('closing closes the verifiers', async (t) => {
  let closed = 0
  const closing: TokenVerifier = { ...createCountingVerifier(), close: async () => { closed++ } }
  await createBearerAuthenticator([closing, createCountingVerifier(), closing]).close()
  t.equal(closed, 2)
})
