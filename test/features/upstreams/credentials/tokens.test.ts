import type { ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { generateKeyPairSync } from 'node:crypto'
import { decodeJwt } from 'jose'
import t from 'tap'
import { ANONYMOUS, type Principal } from '../../../../src/platform/access/principal.ts'
import { toTargetName } from '../../../../src/features/upstreams/tokens/token-exchange.ts'
import type { KeptToken } from '../../../../src/request/pipeline/seams.ts'
import type { ExchangeAuth } from '../../../../src/platform/author/upstream-auth.ts'
import { replaceTime } from '../../../../src/base/time.ts'
import type {
  Credential, CredentialCaller
} from '../../../../src/features/upstreams/credentials/credential.ts'
import {
  createExchangeCredential, toExchangeTarget
} from '../../../../src/features/upstreams/credentials/exchange.ts'
import { KeptTokens } from '../../../../src/features/upstreams/credentials/kept-tokens.ts'
import { openSecret } from '../../../../src/features/upstreams/credentials/secret.ts'
import { createServiceCredential } from '../../../../src/features/upstreams/credentials/service.ts'
import { CLIENT, openExchange, readToken } from '../tokens/exchange-setup.ts'
import { createReadableLog } from '../../../helpers/log.ts'

const CRM: ExchangeAuth = { type: 'exchange', audience: 'crm', scopes: ['crm:read'] }

const { signal } = new AbortController()
const callerOf = (principal: Principal): CredentialCaller => ({ principal, signal })

async function tokenOf (credential: Credential, caller: CredentialCaller): Promise<string> {
  const { authorization = '' } = await credential.headers(caller)
  return authorization.replace('Bearer ', '')
}

/** The principal of a later run of a task: it was read from a record. */
const toLaterRun = (principal: Principal): Principal => ({ ...principal })

t.test('exchange gives each caller a bearer token of its own', async (t) => {
  const { exchange, principal } = await openExchange(t)
  const { logger, text } = createReadableLog()
  const kept = new KeptTokens()
  const credential = createExchangeCredential(CRM, { upstream: 'crm', exchange, kept, log: logger })
  const caller = callerOf(await principal('alice'))
  const token = await tokenOf(credential, caller)
  t.strictSame(readToken(token), { subject: 'alice', audience: 'crm' })
  t.strictSame(credential.headers(caller), { authorization: `Bearer ${token}` })
  t.ok(credential.forget?.(caller))
  t.not(await tokenOf(credential, caller), token)
  t.notOk(credential.forget?.(caller), 'a new one is refused too')
  t.notOk(credential.forget?.(callerOf(await principal('bob'))), 'who got no token')
  t.equal(text(), '')
})

t.test('the failures of an exchange are told apart, and none shows a token', async (t) => {
  const { server, exchange, principal, sign, authenticate } = await openExchange(t, {
    settings: { refuse: (subject) => subject === 'bob' ? 'interaction_required' : undefined }
  })
  const { logger } = createReadableLog()
  const shared = { upstream: 'crm', kept: new KeptTokens(), log: logger }
  const credential = createExchangeCredential(CRM, { ...shared, exchange })
  t.throws(() => credential.headers(callerOf(ANONYMOUS)), { name: 'CredentialError', failure: 'caller' })
  await t.rejects(async () => await credential.headers(callerOf(await principal('bob'))), {
    name: 'CredentialError', failure: 'refused', message: /interaction_required$/, cause: undefined
  })
  const none = createExchangeCredential(CRM, { ...shared, exchange: undefined })
  const token = await sign('carol')
  const carol = callerOf(await authenticate(token))
  t.throws(() => none.headers(carol), { name: 'CredentialError', failure: 'caller' })
  await server.stop()
  await t.rejects(async () => await credential.headers(carol), {
    failure: 'unavailable', message: new RegExp(`^(?!.*${token}|.*${CLIENT.secret})`, 's')
  })
})

t.test('scopes that are not granted are in the log once', async (t) => {
  const { exchange, principal } = await openExchange(t)
  const { logger, lines, text } = createReadableLog()
  const kept = new KeptTokens()
  const credential = createExchangeCredential(
    { ...CRM, scopes: ['crm:read', 'crm:secret'] }, { upstream: 'crm', exchange, kept, log: logger }
  )
  const tokens = await Promise.all(['alice', 'bob'].map(
    async (user) => await tokenOf(credential, callerOf(await principal(user)))
  ))
  t.match(lines, [{ upstream: 'crm', missing: ['crm:secret'] }])
  t.equal(lines.length, 1)
  for (const token of tokens) t.notOk(text().includes(token))
})

t.test('service calls with one token of the service, for all', async (t) => {
  const { server } = await openExchange(t)
  const { logger } = createReadableLog()
  const own = { issuer: server.issuer, client: CLIENT }
  const shared = { upstream: 'crm', own, log: logger }
  const credential = createServiceCredential({ type: 'service', resource: 'https://crm.example' }, shared)
  server.slowDown(30)
  const tokens = await Promise.all(Array.from(
    { length: 100 }, async () => await tokenOf(credential, callerOf(ANONYMOUS))
  ))
  t.equal(new Set(tokens).size, 1)
  t.match(decodeJwt(tokens[0] ?? ''), { sub: CLIENT.clientId, aud: 'https://crm.example' })
  t.equal(server.requestsOf('/token'), 1)
})

t.test('no secret goes into a header of the connection', async (t) => {
  for (const header of ['Host', 'content-length', 'Transfer-Encoding', 'proxy-authorization', 'expect']) {
    t.throws(() => openSecret({ type: 'secret', header, value: 'CANARY' }), /is one of the connection/, header)
  }
})

t.test('a refusal of the service itself is no fault of the caller', async (t) => {
  const { server } = await openExchange(t)
  const own = { issuer: server.issuer, client: CLIENT }
  const credential = createServiceCredential({ type: 'service', resource: 'no URI' }, {
    upstream: 'crm', own, log: createReadableLog().logger
  })
  await t.rejects(async () => await credential.headers(callerOf(ANONYMOUS)), {
    name: 'CredentialError', failure: 'unavailable', message: /gives no token: invalid_target$/
  })
})

t.test('a token of the service is renewed by one request while the old one serves', async (t) => {
  let now = 0
  t.teardown(replaceTime({ monotonic: () => now }))
  const { server } = await openExchange(t)
  const { logger } = createReadableLog()
  let issued = 0
  const answer = (response: ServerResponse) => {
    const body = { access_token: `token-${issued++}`, token_type: 'Bearer', expires_in: 600 }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  server.replaceAnswer('/token', answer)
  const credential = createServiceCredential({ type: 'service' }, {
    upstream: 'crm', own: { issuer: server.issuer, client: CLIENT }, log: logger
  })
  const caller = callerOf(ANONYMOUS)
  t.equal(await tokenOf(credential, caller), 'token-0')
  now = 455_000
  t.strictSame(credential.headers(caller), { authorization: 'Bearer token-0' })
  now = 457_000
  for (let i = 0; i < 50; i++) t.strictSame(credential.headers(caller), { authorization: 'Bearer token-0' })
  await until(() => issued === 2)
  await until(() => Reflect.get(credential.headers(caller), 'authorization') === 'Bearer token-1')
  t.equal(await tokenOf(credential, caller), 'token-1')

  // The issuer is away: what there is serves to its end.
  server.replaceAnswer('/token', (response) => response.destroy())
  now = 457_000 + 560_000
  const before = server.requestsOf('/token')
  for (let i = 0; i < 50; i++) {
    t.equal(await tokenOf(credential, caller), 'token-1')
    if (i % 10 === 0) await pause(5)
  }
  t.equal(server.requestsOf('/token'), before + 1)
  now = 457_000 + 571_000
  await t.rejects(async () => await credential.headers(caller), {
    name: 'CredentialError', failure: 'unavailable'
  })
  server.replaceAnswer('/token', answer)
  now += 6000
  t.equal(await tokenOf(credential, caller), 'token-2')
  t.ok(credential.forget?.(caller))
  t.equal(await tokenOf(credential, caller), 'token-3')
  t.notOk(credential.forget?.(caller), 'an upstream that refuses every token')
})

async function until (isDone: () => boolean): Promise<void> {
  for (let i = 0; i < 2000 && !isDone(); i++) await pause(5)
}

t.test('a secret goes to its own issuer only', async (t) => {
  const { server } = await openExchange(t)
  const { logger } = createReadableLog()
  const shared = { upstream: 'crm', log: logger, own: { issuer: server.issuer, client: CLIENT } }
  const other = { type: 'service', issuer: 'https://id.example' } as const
  t.throws(() => createServiceCredential(other, shared), /clientId and clientSecret/)
  const half = { ...other, clientId: 'a' }
  t.throws(() => createServiceCredential(half, shared), /one of them/)
  const alone = { ...shared, own: {} }
  t.throws(() => createServiceCredential({ type: 'service' }, alone), /auth\.issuer/)
  const credential = createServiceCredential({
    type: 'service', issuer: server.issuer, clientId: CLIENT.clientId, clientSecret: CLIENT.secret
  }, { ...shared, own: {} })
  t.match(decodeJwt(await tokenOf(credential, callerOf(ANONYMOUS))), { sub: CLIENT.clientId })
})

t.test('a private key takes the place of the secret', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { server } = await openExchange(t, {
    server: {
      clients: [{
        client_id: 'trivet',
        token_endpoint_auth_method: 'private_key_jwt',
        token_endpoint_auth_signing_alg: 'ES256',
        jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'ES256', kid: 'a' }] } as never,
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: []
      }]
    }
  })
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const credential = createServiceCredential({ type: 'service', resource: 'https://crm.example' }, {
    upstream: 'crm',
    own: { issuer: server.issuer, client: { clientId: 'trivet', privateKey: pem } },
    log: createReadableLog().logger
  })
  t.match(decodeJwt(await tokenOf(credential, callerOf(ANONYMOUS))), { sub: 'trivet' })
})

for (const behavesAs of ['keycloak', 'entra'] as const) {
  t.test(`a later run of a task uses what it keeps, and renews it: ${behavesAs}`, async (t) => {
    const settings = { hasRefreshTokens: true }
    const { exchange, principal, server } = await openExchange(t, { behavesAs, settings })
    const auth: ExchangeAuth = behavesAs === 'entra'
      ? { type: 'exchange', audience: 'api://crm', keep: true }
      : { ...CRM, keep: true }
    const kept = new KeptTokens()
    const credential = createExchangeCredential(auth, {
      upstream: 'crm', exchange, kept, log: createReadableLog().logger
    })
    const own = behavesAs === 'entra' ? { oid: 'oid-alice' } : { typ: 'Bearer' }
    const alice = await principal('alice', { azp: 'app', ...own })
    const first = await exchange.exchangeToKeep(alice, toExchangeTarget(auth))
    t.type(first.refreshToken, 'string')
    const later = toLaterRun(alice)
    const records: Array<{ readonly [upstream: string]: KeptToken }> = []
    kept.attach(later, { crm: first }, async (tokens) => { await pause(20); records.push(tokens) })
    const caller = callerOf(later)
    t.equal(await tokenOf(credential, caller), first.accessToken)
    t.equal(server.requestsOf('/token'), 1)

    // The upstream refuses it. One request renews it, for all calls of the run.
    t.ok(credential.forget?.(caller))
    const calls = Array.from({ length: 20 }, async () => await tokenOf(credential, caller))
    const renewed = new Set(await Promise.all(calls))
    t.equal(renewed.size, 1)
    t.notOk(renewed.has(first.accessToken))
    t.equal(server.requestsOf('/token'), 2)
    t.equal(records.length, 1, 'it was kept before it was used')
    t.equal(records[0]?.['crm']?.accessToken, [...renewed][0])
    t.type(records[0]?.['crm']?.refreshToken, 'string')
    t.notOk(credential.forget?.(caller), 'an upstream that refuses every token causes one renewal')
    t.strictSame(readToken([...renewed][0] ?? ''), { subject: 'alice', audience: auth.audience })

    // The next run renews with the refresh token that was kept last.
    const next = toLaterRun(alice)
    kept.attach(next, { crm: { ...records[0]?.['crm'] ?? first, expiresAt: 0 } }, async () => {})
    t.strictSame(readToken(await tokenOf(credential, callerOf(next))).subject, 'alice')

    // A refresh token that does not count any more: a new call of the user begins with new tokens.
    const failing = toLaterRun(alice)
    kept.attach(failing, { crm: { ...first, expiresAt: 0, refreshToken: 'used' } }, async () => {})
    await t.rejects(async () => await credential.headers(callerOf(failing)), {
      name: 'CredentialError', failure: 'caller', message: /must call the tool again \(.*invalid_grant\)$/
    })
  })
}

t.test('a later run without a token that counts is told apart', async (t) => {
  const { exchange, principal } = await openExchange(t)
  const kept = new KeptTokens()
  const credential = createExchangeCredential(CRM, {
    upstream: 'crm', exchange, kept, log: createReadableLog().logger
  })
  const alice = await principal('alice')
  const token = await exchange.exchangeToKeep(alice, toExchangeTarget(CRM))
  t.equal(token.refreshToken, undefined)
  const lost = { failure: 'caller', name: 'CredentialError' }
  t.throws(() => credential.headers(callerOf(toLaterRun(alice))), lost, 'nothing was kept')
  const mail = await exchange.exchangeToKeep(alice, { audience: 'mail' })
  const kinds = [{}, { mail: token }, { crm: { ...token, expiresAt: Date.now() } }, { crm: mail }]
  t.equal(toTargetName({ scopes: ['a'] }) === toTargetName({ scopes: ['b'] }), false)
  t.equal(toTargetName(CRM), toTargetName({ ...CRM, scopes: [] }), 'other scopes are no other service')
  for (const tokens of kinds) {
    const later = toLaterRun(alice)
    kept.attach(later, tokens, async () => {})
    t.throws(() => credential.headers(callerOf(later)), lost)
  }
  const later = toLaterRun(alice)
  kept.attach(later, { crm: token }, async () => {})
  t.equal(await tokenOf(credential, callerOf(later)), token.accessToken)
  await t.rejects(exchange.renew(alice, token, CRM, async () => {}), { name: 'NothingToExchange' })
})
