import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { createBearerAuthenticator } from '../../../src/platform/access/bearer-authenticator.ts'
import {
  createIntrospectionVerifier, type IntrospectionVerifierOptions
} from '../../../src/platform/access/introspection-verifier.ts'
import { readEndpointUrl } from '../../../src/platform/access/server-url.ts'
import { PRESETS } from '../../../src/platform/access/token-rules.ts'
import { createRefusalRate } from '../../../src/platform/limits/refusal-rate.ts'
import {
  startAuthorizationServer, type AuthorizationServer, type AuthorizationServerSettings
} from '../../servers/authorization-server.ts'
import { until, within } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'

const AUDIENCE = 'https://books.example/mcp'
const CLIENT = { clientId: 'books', secret: 'books-secret' }
const ENDPOINT = '/token/introspection'
const INVALID = { name: 'AuthenticationError', code: 'invalid_token' }
const UNAVAILABLE = { name: 'AuthenticationUnavailable' }

const verifierOf = ({ issuer }: AuthorizationServer, options: Partial<IntrospectionVerifierOptions> = {}) => {
  return createIntrospectionVerifier({
    issuer, client: CLIENT, audiences: [{ audience: AUDIENCE }], rules: PRESETS.standard, ...options
  })
}

const start = async (t: Test, settings: AuthorizationServerSettings = {}) => {
  return await startAuthorizationServer(t, { format: 'opaque', ...settings })
}

/** The endpoint says this of every token. */
function answerWith (server: AuthorizationServer, answer: object): void {
  server.replaceAnswer(ENDPOINT, (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
}

t.test('the server says whose an opaque token is (265)', async (t) => {
  const server = await start(t)
  const verifier = verifierOf(server)
  const user = await server.signIn({ scope: 'openid books:read' })
  const { subject, clientId, scopes, issuer, expiresAt = 0 } = await verifier.verify(user.access_token)
  t.strictSame([subject, clientId, [...scopes], issuer], ['alice', 'app', ['books:read'], server.issuer])
  t.ok(expiresAt > Date.now() + 590_000 && expiresAt <= Date.now() + 601_000)
  const machine = await server.clientCredentials({ scope: 'books:write' })
  const principal = await verifier.verify(machine.access_token)
  t.strictSame([principal.subject, principal.clientId], [undefined, 'machine'])
})

t.test('a token for another audience is refused (266)', async (t) => {
  const server = await start(t)
  const { access_token: token } = await server.clientCredentials({ resource: 'https://other.example/mcp' })
  await t.rejects(verifierOf(server).verify(token), { ...INVALID, message: /another audience/ })
})

t.test('a refresh token is no access token (266)', async (t) => {
  const server = await start(t)
  const { refresh_token: token = '' } = await server.signIn({ scope: 'openid offline_access books:read' })
  t.not(token, '')
  await t.rejects(verifierOf(server).verify(token), { code: 'invalid_token' })
})

t.test('a token that is not active is refused, and remembered for ten seconds', async (t) => {
  let now = Date.now()
  const server = await start(t)
  const verifier = verifierOf(server, { now: () => now })
  const refused = { ...INVALID, name: 'TokenNotKnown' }
  await t.rejects(verifier.verify('unknown'), refused)
  now += 9999
  await t.rejects(verifier.verify('unknown'), refused)
  t.equal(server.requestsOf(ENDPOINT), 1)
  now += 1
  await t.rejects(verifier.verify('unknown'), refused)
  t.equal(server.requestsOf(ENDPOINT), 2)
})

t.test('an active token is kept for a minute, and a revoked one counts until then', async (t) => {
  let now = Date.now()
  const server = await start(t)
  const clock = { now: () => now }
  const authenticator = createBearerAuthenticator([verifierOf(server, clock)], clock)
  const { access_token: token } = await server.clientCredentials()
  const first = await authenticator.authenticate(`Bearer ${token}`)
  await server.revoke(token)
  now += 59_999
  t.equal(authenticator.authenticate(`Bearer ${token}`), first)
  t.equal(server.requestsOf(ENDPOINT), 1)
  now += 1
  await t.rejects(Promise.resolve(authenticator.authenticate(`Bearer ${token}`)), INVALID)
})

t.test('an active token is not kept past its expiry (265)', async (t) => {
  let now = Date.now()
  const server = await start(t, { tokenTtlSeconds: 20 })
  const clock = { now: () => now }
  const authenticator = createBearerAuthenticator([verifierOf(server, clock)], clock)
  const { access_token: token } = await server.clientCredentials()
  await authenticator.authenticate(`Bearer ${token}`)
  now += 21_000
  await authenticator.authenticate(`Bearer ${token}`)
  t.equal(server.requestsOf(ENDPOINT), 2, 'within the leeway, the server is asked each time')
  now += 31_000
  await t.rejects(Promise.resolve(authenticator.authenticate(`Bearer ${token}`)), INVALID)
})

t.test('the number of remembered refusals is bounded', async (t) => {
  const server = await start(t)
  const verifier = verifierOf(server, { maxRefused: 2 })
  for (const token of ['a', 'b', 'c', 'c', 'b', 'a']) await t.rejects(verifier.verify(token))
  t.equal(server.requestsOf(ENDPOINT), 4)
})

t.test('what the answer says is checked (265, 266)', async (t) => {
  const server = await start(t)
  const seconds = Date.now() / 1000
  const good = { active: true, sub: 'ada', client_id: 'app', aud: AUDIENCE }
  const answers: ReadonlyArray<readonly [object, boolean]> = [
    [good, true],
    [{ ...good, iss: server.issuer, aud: ['x', AUDIENCE], exp: seconds - 20, nbf: seconds + 20 }, true],
    [{ ...good, token_type: 'bearer', token_use: 'access_token' }, true],
    [{ ...good, token_type: null }, true],
    [{ ...good, token_type: 'DPoP' }, false],
    [{ ...good, token_type: 'refresh_token' }, false],
    [{ ...good, token_use: 'refresh_token' }, false],
    [{ ...good, token_use: ['access'] }, false],
    [{ ...good, typ: 'Refresh' }, false],
    [{ ...good, typ: 'ID' }, false],
    [{ ...good, at_hash: 'x' }, false],
    [{ ...good, aud: undefined }, false],
    [{ ...good, aud: null }, false],
    [{ ...good, iss: `${server.issuer}/` }, false],
    [{ ...good, iss: null }, false],
    [{ ...good, aud: 'x' }, false],
    [{ ...good, aud: [] }, false],
    [{ ...good, aud: { [AUDIENCE]: true } }, false],
    [{ ...good, exp: seconds - 31 }, false],
    [{ ...good, exp: String(seconds + 60) }, false],
    [{ ...good, nbf: seconds + 90 }, false],
    [{ ...good, cnf: { jkt: 'x' } }, false],
    [{ active: true, aud: AUDIENCE, scope: 'books:read' }, false],
    [{ active: false, sub: 'ada' }, false]
  ]
  const reasons: ReadonlyArray<readonly [object, string]> = [
    [{ exp: null }, 'its exp is not a number'],
    [{ exp: '4102444800' }, 'its exp is not a number'],
    [{ nbf: null }, 'its nbf is not a number'],
    [{ iss: null }, 'its iss is not a text'],
    [{ iss: 'https://other.example' }, 'it has another issuer'],
    [{ exp: 1 }, 'it has expired']
  ]
  for (const [change, reason] of reasons) {
    answerWith(server, { ...good, ...change })
    await t.rejects(verifierOf(server).verify('token'), {
      ...INVALID, message: `the token is active, and not accepted: ${reason}`
    })
  }
  for (const [answer, isValid] of answers) {
    answerWith(server, answer)
    const verified = verifierOf(server).verify('token')
    if (isValid) t.equal((await verified).subject, 'ada')
    else await t.rejects(verified, { code: 'invalid_token' }, JSON.stringify(answer))
  }
})

t.test('wrong credentials of this service are unavailable, and the log is told', async (t) => {
  const server = await start(t)
  for (const client of [{ clientId: 'books', secret: 'wrong' }, { clientId: 'nobody', secret: 'wrong' }]) {
    await t.rejects(verifierOf(server, { client }).verify('token'), {
      ...UNAVAILABLE, message: / answered with status 40[01].*\. Check the credentials of this service$/
    })
  }
})

t.test('a 401 with an empty body is about the credentials of this service', async (t) => {
  const server = await start(t)
  server.replaceAnswer(ENDPOINT, (response) => { response.writeHead(401).end() })
  await t.rejects(verifierOf(server).verify('token'), {
    ...UNAVAILABLE, message: /it answered with status 401\. Check the credentials of this service$/
  })
})

t.test('a 400 about one token refuses the token, and says nothing of the server', async (t) => {
  const server = await start(t)
  const answerError = (status: number, error: string) => server.replaceAnswer(ENDPOINT, (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
  })
  const verifier = verifierOf(server)
  answerError(400, 'unsupported_token_type')
  for (const token of ['a', 'b', 'c', 'd']) {
    await t.rejects(verifier.verify(token), { name: 'TokenNotKnown', code: 'invalid_token' })
  }
  answerError(414, '')
  for (const token of ['e', 'f', 'g', 'h']) {
    await t.rejects(verifier.verify(token), { ...UNAVAILABLE, message: /status 414$/ })
  }
  server.replaceAnswer(ENDPOINT)
  await t.rejects(verifier.verify('i'), { name: 'TokenNotKnown' }, 'the server is asked as before')
})

t.test('a server that wants to be asked less is asked again about the same token', async (t) => {
  const server = await start(t)
  const inThreeSeconds = () => new Date(Date.now() + 3000).toUTCString()
  for (const [retryAfter, leastMs] of [['1', 999], ['soon', 999], [inThreeSeconds, 1900]] as const) {
    server.replaceAnswer(ENDPOINT, (response) => {
      server.replaceAnswer(ENDPOINT)
      const value = typeof retryAfter === 'string' ? retryAfter : retryAfter()
      response.writeHead(429, { 'retry-after': value }).end()
    })
    const begin = performance.now()
    const verified = verifierOf(server).verify('unknown')
    await within(t.rejects(verified, { name: 'TokenNotKnown' }), 'the answer')
    t.ok(performance.now() - begin >= leastMs)
  }
  server.replaceAnswer(ENDPOINT, (response) => { response.writeHead(429, { 'retry-after': '60' }).end() })
  await t.rejects(verifierOf(server).verify('unknown'), { ...UNAVAILABLE, message: /status 429$/ })
})

t.test('a network that sends many refused tokens is told to wait before the server is asked', async (t) => {
  const server = await start(t)
  const { access_token: token } = await server.clientCredentials()
  const network = '203.0.113.7'
  const log = createReadableLog()
  const refusalRate = createRefusalRate({ log: log.logger })
  const authenticator = createBearerAuthenticator([verifierOf(server, { refusalRate })])
  const authenticate = async (token: string, network?: string) => {
    return await authenticator.authenticate(`Bearer ${token}`, { network, checkRoom () {} })
  }
  await authenticate(token, network)
  answerWith(server, { active: false })
  const before = server.requestsOf(ENDPOINT)
  for (let i = 0; i < 300; i++) await t.rejects(authenticate(`unknown-${i}`, network), INVALID)
  await t.rejects(authenticate('unknown-299', network), INVALID, 'which is remembered')
  await t.rejects(authenticate('new', network), {
    httpStatus: 429, message: /^The limit is reached: 300 access tokens of your address .* Try again in \d\d? sec/
  })
  await t.rejects(authenticate('newer', network), { message: /^The limit/ })
  t.match(log.lines, [{ level: 40, err: { message: /^203\.0\.113\.7 .*TRIVET_TRUSTED_PROXIES/ }, errors: 1 }])
  t.equal(log.lines.length, 1)
  t.equal(server.requestsOf(ENDPOINT) - before, 300)
  await authenticate(token, network)
  for (const other of ['203.0.113.8', undefined]) await t.rejects(authenticate(`${other}`, other), INVALID)
})

t.test('a server that fails three times in a row is left alone, and asked by one request then', async (t) => {
  let now = 1000
  const server = await start(t)
  server.replaceAnswer(ENDPOINT, (response) => { response.writeHead(503).end() })
  const verifier = verifierOf(server, { now: () => now })
  for (const token of ['a', 'b', 'c', 'd', 'e']) await t.rejects(verifier.verify(token), UNAVAILABLE)
  t.equal(server.requestsOf(ENDPOINT), 3)
  now += 5000
  await Promise.all(['f', 'g', 'h'].map((token) => t.rejects(verifier.verify(token), UNAVAILABLE)))
  t.equal(server.requestsOf(ENDPOINT), 4)
  now += 5000
  server.replaceAnswer(ENDPOINT)
  await t.rejects(verifier.verify('i'), { name: 'TokenNotKnown' })
  await t.rejects(verifier.verify('j'), { name: 'TokenNotKnown' })
})

t.test('a flood of tokens opens few requests, and those beyond wait or fail', async (t) => {
  const server = await start(t)
  const responses: ServerResponse[] = []
  server.replaceAnswer(ENDPOINT, (response) => { responses.push(response) })
  const verifier = verifierOf(server, { maxAsking: 2, maxWaiting: 3 })
  const verify = async (_: unknown, index: number) => await verifier.verify(`token-${index}`).catch(String)
  const verified = Array.from({ length: 7 }, verify)
  for (const late of verified.slice(5)) t.match(await late, /too many tokens wait/)
  for (let answered = 0; answered < 5; answered++) {
    await until(() => responses.length > answered, 'a request')
    t.ok(responses.length <= answered + 2)
    responses[answered]?.writeHead(200, { 'content-type': 'application/json' }).end('{"active": false}')
  }
  for (const text of await Promise.all(verified.slice(0, 5))) t.match(text, /not active/)
})

t.test('answers that are no answers are unavailable', async (t) => {
  const server = await start(t)
  for (const [status, body] of [
    [200, ''], [200, '{}'], [200, '{"active":"true"}'], [200, '[]'], [200, `"${'x'.repeat(600_000)}"`],
    [302, ''], [403, '{"error":"access_denied"}'], [404, ''], [500, ''], [503, '{"active":true}']
  ] as const) {
    server.replaceAnswer(ENDPOINT, (response) => {
      response.writeHead(status, { 'content-type': 'application/json', location: '/' }).end(body)
    })
    await t.rejects(verifierOf(server).verify('secret-token'), {
      ...UNAVAILABLE, message: /cannot be asked about tokens: (?!.*secret)/
    }, `${status} ${body.slice(0, 30)}`)
  }
})

t.test('a server that is down or slow is unavailable, and serves when it is back', async (t) => {
  const server = await start(t)
  const { access_token: token } = await server.clientCredentials()
  const verifier = verifierOf(server, { cooldownMs: 0 })
  await server.stop()
  await t.rejects(verifier.verify(token), UNAVAILABLE)
  await server.start()
  t.equal((await verifier.verify(token)).clientId, 'machine')
  server.slowDown(60_000)
  const hasty = verifierOf(server, {
    endpoint: `${server.issuer}${ENDPOINT}`, limits: { timeoutMs: 100, maxBytes: 1000 }
  })
  await t.rejects(hasty.verify(token), { ...UNAVAILABLE, message: /timeout/ })
  server.slowDown(0)
  await server.stop()
  await t.rejects(verifier.verify(token), UNAVAILABLE)
  await server.start()
  t.equal((await verifier.verify(token)).clientId, 'machine')
})

t.test('the endpoint can be given, so that no metadata is asked for', async (t) => {
  const server = await start(t)
  const { access_token: token } = await server.clientCredentials()
  const requests = server.allRequests()
  const verifier = verifierOf(server, { endpoint: `${server.issuer}${ENDPOINT}` })
  t.equal((await verifier.verify(token)).clientId, 'machine')
  t.equal(server.allRequests(), requests + 1)
})

t.test('metadata without a usable endpoint is unavailable', async (t) => {
  for (const endpoint of [undefined, 'http://evil.example/introspect', 7]) {
    const server = await start(t)
    server.replaceAnswer('/.well-known/oauth-authorization-server', (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(
        JSON.stringify({ issuer: server.issuer, introspection_endpoint: endpoint })
      )
    })
    await t.rejects(verifierOf(server).verify('token'), UNAVAILABLE)
  }
})

t.test('this service can prove who it is with a private key, in PEM or as a JWK', async (t) => {
  for (const { privateKey } of [
    generateKeyPairSync('ec', { namedCurve: 'P-256' }), generateKeyPairSync('ed25519'),
    generateKeyPairSync('rsa', { modulusLength: 2048 })
  ]) {
    const isRsa = privateKey.asymmetricKeyType === 'rsa'
    const { d, p, q, dp, dq, qi, ...publicJwk } = privateKey.export({ format: 'jwk' })
    const server = await start(t, {
      clients: [{
        client_id: 'keyed',
        token_endpoint_auth_method: 'private_key_jwt',
        jwks: { keys: [{ ...publicJwk, kid: 'mine' } as { kty: string }] },
        grant_types: [],
        redirect_uris: [],
        response_types: []
      }]
    })
    const { access_token: token } = await server.clientCredentials()
    for (const text of [
      privateKey.export({ type: isRsa ? 'pkcs1' : 'pkcs8', format: 'pem' }).toString(),
      JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid: 'mine' })
    ]) {
      const verifier = verifierOf(server, { client: { clientId: 'keyed', privateKey: text } })
      t.equal((await verifier.verify(token)).clientId, 'machine', `${privateKey.asymmetricKeyType}`)
    }
  }
})

t.test('the credentials are sent as servers compare them, and as others decode them', async (t) => {
  const server = await start(t)
  for (const [clientId, secret, sent] of [
    ['my-app', "a-b_c.d~e!f*g'h(i)j/k=l:m&", "my-app:a-b_c.d~e!f*g'h(i)j/k=l:m&"],
    ['urn:app', 'a+b c%d\u00e9', 'urn%3Aapp:a%2Bb%20c%25d%C3%A9']
  ] as const) {
    let authorization = ''
    server.replaceAnswer(ENDPOINT, (response) => {
      authorization = response.req.headers.authorization ?? ''
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"active": false}')
    })
    await t.rejects(verifierOf(server, { client: { clientId, secret } }).verify('token'))
    t.equal(atob(authorization.replace('Basic ', '')), sent)
  }
})

t.test('metadata sends no request inside the network, unless the issuer is there', async (t) => {
  t.equal(readEndpointUrl('https://10.0.0.5/x', 'https://10.0.0.5/realm').hostname, '10.0.0.5')
  t.equal(readEndpointUrl('https://10.0.0.6/x', 'https://192.168.1.1').hostname, '10.0.0.6')
  t.equal(readEndpointUrl('http://127.0.0.1:8/x', 'http://localhost:9').hostname, '127.0.0.1')
  t.equal(readEndpointUrl('https://93.184.216.34/x', 'https://issuer.example').hostname, '93.184.216.34')
  for (const inside of [
    'http://127.0.0.1:8080', 'http://localhost', 'https://a.localhost', 'http://[::1]', 'https://0.0.0.0',
    'https://10.1.2.3', 'https://172.31.0.1', 'https://192.168.0.1', 'https://169.254.169.254',
    'https://[fd00::1]', 'https://[fe80::1]', 'https://[::ffff:10.0.0.1]', 'https://2130706433'
  ]) {
    t.throws(() => readEndpointUrl(inside, 'https://issuer.example'), /inside this network/, inside)
  }
  t.throws(() => readEndpointUrl('http://127.0.0.1', 'https://10.0.0.5'), /inside this network/)
})

t.test('credentials that cannot be used are refused at the start, and not shown (273)', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = { type: 'pkcs8', format: 'pem' } as const
  const encrypted = privateKey.export({ ...pem, cipher: 'aes-256-cbc', passphrase: 'x' })
  const ed448 = createPrivateKey(generateKeyPairSync('ed448', {
    privateKeyEncoding: pem, publicKeyEncoding: { type: 'spki', format: 'pem' }
  }).privateKey).export(pem)
  for (const text of ['secret', '{"secret": 1', '{"kty":"oct","k":"secret"}', '{}', '', encrypted, ed448]) {
    t.throws(() => createIntrospectionVerifier({
      issuer: 'https://issuer.example',
      client: { clientId: 'keyed', privateKey: String(text) },
      audiences: [{ audience: AUDIENCE }],
      rules: PRESETS.standard
    }), { name: 'TypeError', message: /^the private key must be/ })
  }
  for (const client of [{ clientId: 'a' }, { clientId: 'a', secret: '' }]) {
    t.throws(() => createIntrospectionVerifier({
      issuer: 'https://issuer.example', client, audiences: [{ audience: AUDIENCE }], rules: PRESETS.standard
    }), { name: 'TypeError', message: /needs a secret or a private key/ })
  }
})
