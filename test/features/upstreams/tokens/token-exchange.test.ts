import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { AuthenticationUnavailable } from '../../../../src/platform/access/authentication.ts'
import { ANONYMOUS } from '../../../../src/platform/access/principal.ts'
import { NothingToExchange } from '../../../../src/features/upstreams/tokens/token-exchange.ts'
import { TokenRefused } from '../../../../src/features/upstreams/tokens/token-endpoint.ts'
import { replaceTime } from '../../../../src/base/time.ts'
import { CLIENT, openExchange, readToken } from './exchange-setup.ts'

const CRM = { audience: 'crm', scopes: ['crm:read'] }

/** How each provider behaves, and what its users ask for. */
const PROVIDERS = [
  { behavesAs: 'keycloak', target: { audience: 'crm', scopes: ['crm:read'] }, audience: 'crm' },
  { behavesAs: 'auth0', target: { audience: 'https://crm.example' }, audience: 'https://crm.example' },
  { behavesAs: 'entra', target: { scopes: ['api://crm/.default'] }, audience: 'api://crm' },
  { behavesAs: 'entra', target: { audience: 'api://crm' }, audience: 'api://crm' },
  { behavesAs: 'standard', target: { resource: 'https://crm.example' }, audience: 'https://crm.example' }
] as const

for (const { behavesAs, target, audience } of PROVIDERS) {
  t.test(`${behavesAs} exchanges the token of a user for ${JSON.stringify(target)}`, async (t) => {
    const { server, exchange, exchanged, authenticate } = await openExchange(t, { behavesAs })
    const { access_token: token } = await server.signIn({ user: 'alice', scope: 'openid books:read' })
    const principal = await authenticate(token)
    const given = await exchange.tokenFor(principal, target)
    t.strictSame(readToken(given), { subject: 'alice', audience })
    t.not(given, token)
    t.equal(exchange.tokenFor(principal, target), given, 'the second time nobody is asked: no promise')
    t.equal(exchanged.length, 1)
    const { parameters } = exchanged[0] ?? { parameters: {} }
    if (behavesAs === 'entra') t.match(parameters, { assertion: token, requested_token_use: 'on_behalf_of' })
    else t.match(parameters, { subject_token: token, subject_token_type: /:access_token$/ })
  })
}

t.test('a caller without a token of the issuer has nothing to exchange', async (t) => {
  const { exchange, principal, exchanged } = await openExchange(t)
  const alice = await principal('alice')
  for (const other of [ANONYMOUS, { subject: 'ci', scopes: new Set<string>() }, { ...alice }]) {
    t.throws(() => exchange.tokenFor(other, CRM), NothingToExchange)
  }
  t.equal(exchanged.length, 0, 'a principal that was read from a record has no token')
})

t.test('the token of a caller is no part of the principal', async (t) => {
  const { sign, authenticate } = await openExchange(t)
  const token = await sign('alice')
  const principal = await authenticate(token)
  t.notOk(JSON.stringify(principal).includes(token))
  t.notOk(Reflect.ownKeys(principal).some((name) => Reflect.get(principal, name) === token))
})

t.test('1,000 interleaved calls of two users get the tokens of their users', async (t) => {
  const { exchange, principal, exchanged } = await openExchange(t)
  const users = ['alice', 'bob']
  const principals = await Promise.all(users.map(async (user) => await principal(user)))
  let crossed = 0
  await Promise.all(Array.from({ length: 1000 }, async (_, number) => {
    const user = users[number % 2] ?? ''
    if (number % 7 === 0) await pause(number % 5)
    const target = number % 3 === 0 ? { audience: 'mail' } : CRM
    const token = readToken(await exchange.tokenFor(principals[number % 2] ?? ANONYMOUS, target))
    if (token.subject !== user || token.audience !== target.audience) crossed++
  }))
  t.equal(crossed, 0)
  t.equal(exchanged.length, 4, 'one exchange for each user and upstream')
})

t.test('1,000 calls at once with one cold key make one exchange', async (t) => {
  const { server, exchange, principal, exchanged } = await openExchange(t)
  server.slowDown(50)
  const alice = await principal('alice')
  const calls = Array.from({ length: 1000 }, async () => await exchange.tokenFor(alice, CRM))
  const tokens = await Promise.all(calls)
  t.equal(new Set(tokens).size, 1)
  t.equal(exchanged.length, 1)
  t.equal(server.requestsOf('/token'), 1)
})

t.test('a caller who leaves does not take the exchange from the others', async (t) => {
  const { server, exchange, principal } = await openExchange(t)
  const alice = await principal('alice')
  server.slowDown(100)
  const leaving = new AbortController()
  const first = exchange.tokenFor(alice, CRM, leaving.signal)
  const second = exchange.tokenFor(alice, CRM)
  leaving.abort(new Error('gone'))
  await t.rejects(Promise.resolve(first), { message: 'gone' })
  t.equal(readToken(await second).subject, 'alice')
})

t.test('another token, client, issuer or scope of the same subject gets its own exchange', async (t) => {
  const { exchange, principal, exchanged } = await openExchange(t)
  const strong = await principal('alice', { scope: 'books:read books:write' })
  const weak = await principal('alice', { scope: 'books:read' })
  const other = await principal('alice', { client_id: 'another-app' })
  const tokens = new Set<string>()
  for (const one of [strong, weak, other]) tokens.add(await exchange.tokenFor(one, CRM))
  tokens.add(await exchange.tokenFor(weak, { audience: 'crm', scopes: ['crm:read', 'crm:write'] }))
  tokens.add(await exchange.tokenFor(weak, { audience: 'crm' }))
  t.equal(tokens.size, 5)
  t.equal(exchanged.length, 5)
  const { exchange: elsewhere, principal: principalThere, server } = await openExchange(t)
  const stranger = await principalThere('alice')
  t.throws(() => exchange.tokenFor(stranger, CRM), NothingToExchange, 'it goes to no other issuer')
  t.equal(server.requestsOf('/token'), 0)
  t.equal(readToken(await elsewhere.tokenFor(stranger, CRM)).subject, 'alice')
})

t.test('a token for another audience is refused by the issuer, and the refusal is remembered', async (t) => {
  const { exchange, tokens, sign, server } = await openExchange(t, { behavesAs: 'keycloak' })
  const token = await sign('alice', { aud: 'another-service' })
  const principal = { issuer: server.issuer, subject: 'alice', clientId: 'app', scopes: new Set<string>() }
  tokens.add(principal, token)
  for (let i = 0; i < 20; i++) {
    await t.rejects(async () => await exchange.tokenFor(principal, CRM), {
      name: 'TokenRefused', message: `${server.issuer} gives no token: invalid_grant`
    })
  }
  t.equal(server.requestsOf('/token'), 1)
})

t.test('a token that was taken back is out after five minutes at most', async (t) => {
  let now = 0
  t.teardown(replaceTime({ monotonic: () => now }))
  const revoked = new Set<string>()
  const settings = { revoked, ttlSeconds: 3600 }
  const { exchange, principal, exchanged } = await openExchange(t, { settings })
  const alice = await principal('alice', { exp: Math.floor(Date.now() / 1000) + 3600 })
  await exchange.tokenFor(alice, CRM)
  revoked.add('alice')
  now = 299_000
  t.type(exchange.tokenFor(alice, CRM), 'string')
  now = 300_001
  await t.rejects(async () => await exchange.tokenFor(alice, CRM), TokenRefused)
  t.throws(() => exchange.tokenFor(alice, CRM), TokenRefused, 'it is remembered')
  now = 305_002
  revoked.clear()
  t.equal(readToken(await exchange.tokenFor(alice, CRM)).subject, 'alice', 'for five seconds')
  t.equal(exchanged.length, 2)
})

t.test('an exchanged token is used until shortly before its end, or that of the caller', async (t) => {
  let now = 0
  t.teardown(replaceTime({ monotonic: () => now }))
  const lives = [[100, 600, 70_000], [20, 600, 10_000], [300, 40, 40_000]] as const
  for (const [ttlSeconds, callerSeconds, usedMs] of lives) {
    const { exchange, principal } = await openExchange(t, { settings: { ttlSeconds } })
    const alice = await principal('alice', { exp: Math.floor(Date.now() / 1000) + callerSeconds })
    const first = await exchange.tokenFor(alice, CRM)
    const began = now
    now = began + usedMs - 2000
    t.equal(exchange.tokenFor(alice, CRM), first, `after ${usedMs - 2000} ms`)
    now = began + usedMs + 1
    t.not(await exchange.tokenFor(alice, CRM), first, `after ${usedMs} ms`)
  }
})

t.test('the clock of this machine may be 90 s off', async (t) => {
  for (const ms of [90_000, -90_000]) {
    const { exchange, principal, exchanged } = await openExchange(t, { settings: { ttlSeconds: 120 } })
    const alice = await principal('alice')
    const restore = replaceTime({ now: () => Date.now() + ms })
    const first = await exchange.tokenFor(alice, CRM)
    t.equal(exchange.tokenFor(alice, CRM), first)
    t.equal(exchanged.length, 1)
    restore()
  }
})

t.test('the entries of many principals are bounded, and the least used leave', async (t) => {
  const { server, exchange, tokens } = await openExchange(t, { options: { maxTokens: 1000 } })
  let issued = 0
  server.replaceAnswer('/token', (response) => {
    const body = { access_token: `token-${issued++}`, token_type: 'Bearer', expires_in: 600 }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  const principals = Array.from({ length: 1500 }, (_, i) => {
    const principal = { issuer: server.issuer, subject: `user-${i}`, scopes: new Set<string>() }
    tokens.add(principal, `token-of-user-${i}`)
    return principal
  })
  for (let i = 0; i < principals.length; i += 50) {
    await Promise.all(principals.slice(i, i + 50).map(async (one) => await exchange.tokenFor(one, CRM)))
  }
  t.equal(exchange.size, 1000)
  t.equal(issued, 1500)
  t.type(exchange.tokenFor(principals[1499] ?? ANONYMOUS, CRM), 'string')
  await exchange.tokenFor(principals[0] ?? ANONYMOUS, CRM)
  t.equal(issued, 1501, 'one that has left is exchanged again')
})

t.test('an upstream that refuses every token causes one exchange in five seconds', async (t) => {
  let now = 0
  t.teardown(replaceTime({ monotonic: () => now }))
  const { exchange, principal, exchanged } = await openExchange(t)
  const alice = await principal('alice')
  const first = await exchange.tokenFor(alice, CRM)
  t.ok(exchange.forget(alice, CRM, first))
  const second = await exchange.tokenFor(alice, CRM)
  t.not(second, first)
  t.ok(exchange.forget(alice, CRM, first), 'one that was replaced meanwhile: there is another')
  for (let i = 0; i < 100; i++) t.notOk(exchange.forget(alice, CRM, second))
  t.equal(exchange.tokenFor(alice, CRM), second)
  now = 5001
  t.ok(exchange.forget(alice, CRM, second))
  await exchange.tokenFor(alice, CRM)
  t.equal(exchanged.length, 3)
  t.notOk(exchange.forget(ANONYMOUS, CRM, second))
})

t.test('an issuer that hangs or fails is not asked again, and hurts nobody for long', async (t) => {
  const limits = { timeoutMs: 200, maxBytes: 512 * 1024 }
  const { server, exchange, principal } = await openExchange(t, { options: { limits, cooldownMs: 300 } })
  const users = await Promise.all(Array.from({ length: 20 }, async (_, i) => await principal(`user-${i}`)))
  await exchange.tokenFor(users[0] ?? ANONYMOUS, CRM)
  const answers = [
    () => {},
    (response: ServerResponse) => { response.writeHead(500).end('broken') },
    (response: ServerResponse) => { response.destroy() }
  ]
  for (const answer of answers) {
    server.replaceAnswer('/token', answer)
    const before = server.requestsOf('/token')
    for (const user of users.slice(1, 5)) {
      await t.rejects(async () => await exchange.tokenFor(user, CRM), AuthenticationUnavailable)
    }
    t.equal(server.requestsOf('/token'), before + 3, 'after three failures nobody asks')
    t.type(exchange.tokenFor(users[0] ?? ANONYMOUS, CRM), 'string', 'what is cached serves')
    server.replaceAnswer('/token')
    await pause(350)
    const next = users[5 + answers.indexOf(answer)] ?? ANONYMOUS
    t.equal(readToken(await exchange.tokenFor(next, CRM)).audience, 'crm')
  }
})

t.test('no answer of an issuer gets into a message, and those that cannot be used are refused', async (t) => {
  const { server, exchange, principal, sign, authenticate } = await openExchange(t, {
    options: { cooldownMs: 0, limits: { timeoutMs: 2000, maxBytes: 64 * 1024 } }
  })
  const json = (body: object, status = 200, headers = {}) => (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
  const good = { access_token: 'CANARY', token_type: 'Bearer', expires_in: 60 }
  const cases: ReadonlyArray<readonly [string, ReturnType<typeof json>, 'refused' | 'unavailable']> = [
    ['a redirect', json(good, 302, { location: `${server.origin}/elsewhere` }), 'unavailable'],
    ['ten megabytes', json({ ...good, access_token: `CANARY${'x'.repeat(10_000_000)}` }), 'unavailable'],
    ['DPoP', json({ ...good, token_type: 'DPoP' }), 'unavailable'],
    ['N_A', json({ ...good, token_type: 'N_A' }), 'unavailable'],
    ['a line break', json({ ...good, access_token: 'CANARY\r\nx-evil: 1' }), 'unavailable'],
    ['no token', json({ token_type: 'Bearer', CANARY: 'CANARY' }), 'unavailable'],
    [
      'an ID token', json({ ...good, issued_token_type: 'urn:ietf:params:oauth:token-type:id_token' }),
      'unavailable'
    ],
    ['a life that is no number', json({ ...good, expires_in: 'CANARY' }), 'unavailable'],
    ['HTML', (response) => response.writeHead(200).end('<p>CANARY</p>'), 'unavailable'],
    ['an error that is a token', json({ error: 'CANARY', error_description: 'CANARY' }, 400), 'refused'],
    ['interaction', json({ error: 'interaction_required', claims: 'CANARY' }, 400), 'refused'],
    ['a bad client', json({ error: 'invalid_client', error_description: CLIENT.secret }, 401), 'unavailable'],
    ['a challenge', json({}, 401, { 'www-authenticate': 'Basic realm="CANARY"' }), 'unavailable']
  ]
  for (const [name, answer, failure] of cases) {
    server.replaceAnswer('/token', answer)
    const token = await sign(`user-${name}`)
    const principal = await authenticate(token)
    const error = await Promise.resolve().then(async () => await exchange.tokenFor(principal, CRM)).then(
      () => undefined, (thrown: unknown) => thrown
    )
    t.type(error, failure === 'refused' ? TokenRefused : AuthenticationUnavailable, name)
    const text = dump(error)
    for (const canary of ['CANARY', CLIENT.secret, token]) t.notOk(text.includes(canary), `${name}: ${text}`)
  }
  const subjectToken = await sign('echo')
  const echo = await authenticate(subjectToken)
  server.replaceAnswer('/token', json({ ...good, access_token: subjectToken }))
  await t.rejects(async () => await exchange.tokenFor(echo, CRM), AuthenticationUnavailable, 'the own token')
  await t.rejects(exchange.exchangeToKeep(echo, CRM), AuthenticationUnavailable, 'nor is it kept')
  server.replaceAnswer('/token', json({ access_token: 'fine', token_type: 'bearer', id_token: 'no JWT' }))
  t.equal(await exchange.tokenFor(await principal('alice'), CRM), 'fine', 'nobody reads an ID token')
})

t.test('a token without expires_in counts for a minute', async (t) => {
  let now = 0
  t.teardown(replaceTime({ monotonic: () => now }))
  const { server, exchange, principal } = await openExchange(t)
  const alice = await principal('alice')
  server.replaceAnswer('/token', (response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end('{"access_token":"a","token_type":"Bearer"}')
  })
  await exchange.tokenFor(alice, CRM)
  now = 29_000
  t.equal(exchange.tokenFor(alice, CRM), 'a', 'as long as a token of 60 seconds')
  now = 31_000
  server.replaceAnswer('/token')
  t.not(await exchange.tokenFor(alice, CRM), 'a')
})

t.test('scopes that the issuer does not grant are reported', async (t) => {
  const { exchange, principal } = await openExchange(t)
  const missing: string[] = []
  await exchange.tokenFor(await principal('alice'), {
    audience: 'crm', scopes: ['crm:read', 'crm:secret'], onMissingScopes: (scopes) => missing.push(...scopes)
  })
  t.strictSame(missing, ['crm:secret'])
})

t.test('an issuer that has too much to do is asked again when it says so', async (t) => {
  const { server, exchange, principal } = await openExchange(t)
  const alice = await principal('alice')
  server.replaceAnswer('/token', (response) => {
    server.replaceAnswer('/token')
    response.writeHead(429, { 'retry-after': '1' }).end()
  })
  t.equal(readToken(await exchange.tokenFor(alice, CRM)).subject, 'alice')
  t.equal(server.requestsOf('/token'), 2)
})

t.test('a secret goes to one issuer only', async (t) => {
  const { server, tokens } = await openExchange(t)
  await t.rejects(openExchange(t, {
    options: { tokens, issuers: [server.issuer, 'https://id.example'] }
  }), /one issuer only/)
})

/** All that a logger could find in an error. */
function dump (error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? ''
  const names = Object.getOwnPropertyNames(error)
  const own = Object.fromEntries(names.map((name) => [name, Reflect.get(error, name)]))
  return `${JSON.stringify({ ...own, cause: undefined })}${error.cause === undefined ? '' : dump(error.cause)}`
}
