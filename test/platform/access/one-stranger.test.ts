// One stranger who sends tokens without pause, for a minute, beside honest callers: for each kind of failure
// of an authorization server. The server is away twice. All requests are real.

import type { ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { AppOptions } from '../../../src/app/app.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { toPost } from '../../helpers/request.ts'
import { startAuthorizationServer } from '../../servers/authorization-server.ts'

const TEST_MS = 60_000
const HONEST_EVERY_MS = 250
/** How often a network that was not seen before sends a good token. */
const NEW_EVERY_MS = 1000
const ATTACK_CALLS = 20
const ATTACK_PAUSE_MS = 500
/** When the server goes away, and comes back. */
const OUTAGES = [[6000, 10_000], [30_000, 34_000]] as const
const ROTATION_AT = 20_000
/** The part of the honest calls that the attack must leave. On a quiet machine it leaves all. */
const LEAST_PART = 0.93

const AUDIENCE = 'https://books.example/mcp'
const ENDPOINT = '/token/introspection'
const [HONEST, STRANGER] = ['203.0.113.7', '198.51.100.1']

type Ask = (network: string, token: string) => Promise<boolean>

async function openAsk (t: Test, options: AppOptions): Promise<Ask> {
  const app = await buildApp(t, {}, { publicUrl: AUDIENCE, trustedProxies: ['127.0.0.1'], ...options })
  const url = await listen(app)
  return async (network, token) => {
    const { headers, body } = toPost({
      method: 'tools/list', headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': network }
    })
    try {
      const answer = await fetch(url, { method: 'POST', headers, body })
      await answer.arrayBuffer()
      return answer.ok
    } catch {
      // A busy machine: a connection was not there in ten seconds.
      return false
    }
  }
}

/** Calls at fixed times. Resolves to the times of those that were answered. */
async function callEvery (everyMs: number, call: (index: number) => Promise<boolean>): Promise<number[]> {
  const startedAt = performance.now()
  const times: number[] = []
  const running: Array<Promise<void>> = []
  for (let index = 0; index * everyMs < TEST_MS; index++) {
    await pause(Math.max(0, startedAt + index * everyMs - performance.now()))
    const begin = performance.now() - startedAt
    running.push(call(index).then((isAnswered) => { if (isAnswered) times.push(begin) }))
  }
  await Promise.all(running)
  return times.sort((one, other) => one - other)
}

async function attack (call: () => Promise<unknown>): Promise<void> {
  const endsAt = performance.now() + TEST_MS
  await Promise.all(Array.from({ length: ATTACK_CALLS }, async () => {
    while (performance.now() < endsAt) {
      await call()
      await pause(ATTACK_PAUSE_MS)
    }
  }))
}

const backAfter = (times: readonly number[], end: number): number => (
  Math.round((times.find((time) => time >= end) ?? Infinity) - end)
)

t.setTimeout(3 * TEST_MS)

/** What the server does with a token: its first word. */
type TokenKind = 'hang' | 'error' | 'broken' | 'random'

async function introspect (response: ServerResponse): Promise<void> {
  const token = new URLSearchParams(await text(response.req)).get('token') ?? ''
  const json = { 'content-type': 'application/json' }
  switch (token.split('-')[0]) {
    case 'hang': return
    case 'error': {
      response.writeHead(500).end()
      return
    }
    case 'broken': {
      response.writeHead(200, { ...json, 'content-length': '1000' }).write('{')
      setTimeout(() => response.destroy(), 10)
      return
    }
    default: response.writeHead(200, json).end(JSON.stringify({
      active: token.startsWith('good'), sub: 'ada', client_id: 'app', aud: AUDIENCE
    }))
  }
}

let tokens = 0
const newToken = (kind: TokenKind | 'good'): string => `${kind}-${tokens++}`

async function openIntrospection (t: Test) {
  const server = await startAuthorizationServer(t, { format: 'opaque' })
  server.replaceAnswer(ENDPOINT, (response) => { introspect(response).catch(() => response.destroy()) })
  const ask = await openAsk(t, {
    auth: ['introspection'],
    authIssuers: [server.issuer],
    authClientId: 'books',
    authClientSecret: 'books-secret'
  })
  return { server, ask }
}

async function runIntrospection (t: Test, kind: TokenKind, isAttacked: boolean) {
  const { server, ask } = await openIntrospection(t)
  const startedAt = performance.now()
  const [known, newcomers] = await Promise.all([
    callEvery(HONEST_EVERY_MS, async () => await ask(HONEST, newToken('good'))),
    callEvery(NEW_EVERY_MS, async (index) => await ask(`192.0.2.${index}`, newToken('good'))),
    isAttacked ? attack(async () => await ask(STRANGER, newToken(kind))) : undefined,
    (async () => {
      for (const [from, to] of OUTAGES) {
        await pause(startedAt + from - performance.now())
        await server.stop()
        await pause(startedAt + to - performance.now())
        await server.start()
      }
    })()
  ])
  const backMs = OUTAGES.map(([, end]) => backAfter(known, end))
  return { known: known.length, newcomers: newcomers.length, backMs }
}

async function runKeys (t: Test, isAttacked: boolean) {
  const server = await startAuthorizationServer(t)
  const ask = await openAsk(t, { auth: ['jwt'], authIssuers: [server.issuer] })
  const mint = async (header = {}) => {
    const seconds = Math.round(Date.now() / 1000)
    return await server.sign({
      iss: server.issuer, aud: AUDIENCE, sub: 'ada', iat: seconds, exp: seconds + 60, jti: newToken('good')
    }, header)
  }
  const [known] = await Promise.all([
    callEvery(HONEST_EVERY_MS, async () => await ask(HONEST, await mint())),
    isAttacked ? attack(async () => await ask(STRANGER, await mint({ kid: newToken('random') }))) : undefined,
    pause(ROTATION_AT).then(async () => await server.rotateKeys())
  ])
  const backMs = backAfter(known, ROTATION_AT + 500)
  return { known: known.length, backMs, requests: server.requestsOf('/jwks') }
}

t.test('honest callers are served as without the stranger', { timeout: 3 * TEST_MS }, async (t) => {
  const kinds: readonly TokenKind[] = ['hang', 'error', 'broken', 'random']
  const [calm, keys, calmKeys, ...attacked] = await Promise.all([
    runIntrospection(t, 'random', false), runKeys(t, true), runKeys(t, false),
    ...kinds.map(async (kind) => await runIntrospection(t, kind, true))
  ])
  const all = TEST_MS / HONEST_EVERY_MS
  t.comment(`without a stranger: ${JSON.stringify({ calm, calmKeys })}`)
  t.ok(calm.known > 50, `${calm.known} calls without a stranger`)
  for (const [index, kind] of kinds.entries()) {
    const { known = 0, newcomers = 0, backMs = [] } = attacked[index] ?? {}
    const figures = `${kind}: ${known} of ${all}, ${newcomers} newcomers of ${TEST_MS / NEW_EVERY_MS}; ` +
      `back after ${backMs.join(' and ')} ms`
    t.comment(figures)
    t.ok(known >= calm.known * LEAST_PART, figures)
    t.ok(newcomers >= calm.newcomers * LEAST_PART, figures)
  }
  t.comment(`unknown keys: ${JSON.stringify(keys)}`)
  t.ok(keys.known >= all * LEAST_PART, `a new key is known soon: ${keys.known} calls`)
  t.ok(keys.backMs <= 10_000, `back after ${keys.backMs} ms`)
  t.ok(keys.requests <= TEST_MS / 5000 + 2, `${keys.requests} requests for keys`)
})
