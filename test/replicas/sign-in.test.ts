// Three replicas with sign-in and one store: each step of a sign-in is served by another one.

import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { callHello, HELLO, startProvider } from '../features/sign-in/sign-in-service.ts'
import {
  getCode, postForm, redeem, refresh, register, toExchanging
} from '../features/sign-in/grants-setup.ts'
import { writeCatalog } from '../helpers/catalog-folder.ts'
import { findFreePort } from '../helpers/free-port.ts'
import { startService } from '../helpers/service.ts'
import { hasPostgresServer, startPostgresServer } from '../servers/postgres-server.ts'
import { hasRedisServer, startRedisServer } from '../servers/redis-server.ts'
import { toEnvironment } from './sign-in-replicas.ts'

const OLD = 'an-old-secret-0123456789abcdefghijklmn'
const NEW = 'a-new-secret-0123456789abcdefghijklmno'
const CLOCK = new URL('../helpers/clock-skew.mjs', import.meta.url)
/** After it an ended grant counts on no replica. */
const LOOK_MS = 2000
const REFUSED = { status: 400, body: { error: 'invalid_grant' } }

type Environment = Record<string, string>

async function startReplicas (t: Test, stateUrl: string, environments: readonly Environment[]) {
  const ports = await Promise.all(environments.map(async () => await findFreePort()))
  const origins = ports.map((port) => `http://127.0.0.1:${port}`)
  const [origin = ''] = origins
  const issued: string[] = []
  const provider = await startProvider(t, origin, toExchanging({
    exchange: { rotates: true }, onTokens: (tokens) => issued.push(...tokens)
  }))
  const common = {
    TRIVET_CATALOG: await writeCatalog(t, HELLO),
    TRIVET_WATCH: 'off',
    TRIVET_STATE_URL: stateUrl,
    ...toEnvironment(`${origin}/mcp`, provider),
    TRIVET_LOG_LEVEL: 'trace',
    TRIVET_SECRETS: OLD
  }
  const start = async (number: number, more: Record<string, string> = {}) => await startService(t, {
    ...common, ...environments[number], PORT: String(ports[number]), ...more
  })
  const services = await Promise.all(environments.map(async (_, number) => await start(number)))
  const [a = '', b = '', c = ''] = origins
  return { provider, issued, services, start, a, b, c }
}

async function callAll (origins: readonly string[], token: unknown): Promise<number[]> {
  return await Promise.all(origins.map(async (origin) => (await callHello(`${origin}/mcp`, token)).status))
}

const statesOf = new Map([
  ['Redis', async (t: Test) => hasRedisServer(t) ? (await startRedisServer(t)).url : undefined],
  ['PostgreSQL', async (t: Test) => hasPostgresServer(t) ? (await startPostgresServer(t)).url : undefined]
])

for (const [name, startState] of statesOf) {
  t.test(`${name}: any replica serves any step while secrets are replaced (273)`, { timeout: 120_000 }, async (t) => {
    const stateUrl = await startState(t)
    if (stateUrl === undefined) return
    const { provider, issued, services, start, a, b, c } = await startReplicas(t, stateUrl, [
      { TRIVET_SECRETS: `${OLD},${NEW}` },
      { TRIVET_SECRETS: `${OLD},${NEW}` },
      { TRIVET_SECRETS: `${NEW},${OLD}` }
    ])
    const clientId = await register(a)
    // The browser follows the public address, which is that of the first replica.
    const code = await getCode(a, clientId)
    const { status, body } = await redeem(c, code)
    t.equal(status, 200)
    t.strictSame(await callAll([a, b, c], body.access_token), [200, 200, 200])

    await services[0]?.stop('SIGKILL')
    services[0] = await start(0, { TRIVET_SECRETS: `${NEW},${OLD}` })
    t.strictSame(await callAll([a], body.access_token), [200], 'after a restart')
    await pause(10_500)
    const answers = await Promise.all([a, b, c, a, b, c].map(
      async (origin) => await refresh(origin, clientId, body.refresh_token)
    ))
    for (const answer of answers) t.equal(answer.status, 200, JSON.stringify(answer.body))
    let [token] = answers.map((answer) => answer.body.refresh_token)
    for (const origin of [b, c, a]) {
      const next = await refresh(origin, clientId, token)
      t.equal(next.status, 200)
      token = next.body.refresh_token
    }
    t.match(await refresh(b, clientId, body.refresh_token), REFUSED, 'a stolen one')
    await pause(LOOK_MS)
    t.strictSame(await callAll([a, b, c], answers[0]?.body.access_token), [401, 401, 401])

    const second = await redeem(b, await getCode(a, clientId))
    t.equal(second.status, 200)
    t.strictSame(await callAll([a, b, c], second.body.access_token), [200, 200, 200])
    const form = { client_id: clientId, token: String(second.body.access_token) }
    t.equal((await postForm(c, '/sign-in/revoke', form)).status, 200)
    await pause(LOOK_MS)
    t.strictSame(await callAll([a, b, c], second.body.access_token), [401, 401, 401])

    const logs = services.map((service) => service.stdout() + service.stderr()).join('')
    const secrets = [
      ...issued, ...Object.values(code.form).filter((value) => value.length > 42),
      body.access_token, body.refresh_token, 'trivet-secret', OLD
    ]
    t.ok(issued.length > 8)
    for (const secret of secrets) t.notOk(logs.includes(String(secret)), 'no secret is in a log')
    t.ok(provider.requestsOf('/token') > 0)
  })
}

t.test('a code that two replicas get at the same moment gives tokens that do not count', async (t) => {
  if (!hasRedisServer(t)) return
  const { a, b, c } = await startReplicas(t, (await startRedisServer(t)).url, [{}, {}, {}])
  const clientId = await register(a)
  for (let round = 0; round < 5; round++) {
    const code = await getCode(a, clientId)
    const answers = await Promise.all([a, b, c].map(async (origin) => await redeem(origin, code)))
    const tokens = answers.flatMap(({ status, body }) => status === 200 ? [body] : [])
    t.ok(tokens.length <= 1)
    for (const { refresh_token: token } of tokens) t.match(await refresh(b, clientId, token), REFUSED)
  }
})

t.test('a clock that is 90 s off loses nothing, nor does a store that is away', async (t) => {
  if (!hasRedisServer(t)) return
  const redis = await startRedisServer(t)
  const skew = (ms: number) => (
    { NODE_OPTIONS: `--import ${fileURLToPath(CLOCK)}`, CLOCK_SKEW_MS: String(ms) }
  )
  const { a, b, c, services } = await startReplicas(t, redis.url, [{}, skew(90_000), skew(-90_000)])
  const clientId = await register(a)
  for (const origin of [b, c]) {
    const { status, body } = await redeem(origin, await getCode(a, clientId))
    t.equal(status, 200)
    t.strictSame(await callAll([a, b, c], body.access_token), [200, 200, 200])
    let token = body.refresh_token
    for (const [from, to] of [[a, b], [b, c], [c, a], [b, a], [c, b]] as const) {
      const first = await refresh(from, clientId, token)
      const repeated = await refresh(to, clientId, token)
      t.equal(first.status, 200)
      t.equal(repeated.body.refresh_token, first.body.refresh_token, 'a lost answer is given again elsewhere')
      token = first.body.refresh_token
    }
  }

  const { body } = await redeem(a, await getCode(a, clientId))
  t.strictSame(await callAll([a, b], body.access_token), [200, 200])
  // A paused process wakes up after the grant has ended.
  services[1]?.child.kill('SIGSTOP')
  await postForm(a, '/sign-in/revoke', { client_id: clientId, token: String(body.refresh_token) })
  await pause(LOOK_MS)
  services[1]?.child.kill('SIGCONT')
  t.strictSame(await callAll([b, a], body.access_token), [401, 401], 'it knows at once')

  const last = await redeem(a, await getCode(a, clientId))
  t.strictSame(await callAll([a], last.body.access_token), [200])
  await redis.kill()
  await pause(LOOK_MS)
  t.strictSame(await callAll([a], last.body.access_token), [503], 'a client keeps its token')
  t.match(await refresh(a, clientId, last.body.refresh_token), {
    status: 503, body: { error: 'temporarily_unavailable' }
  })
})
