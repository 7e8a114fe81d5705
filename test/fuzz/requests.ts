// Makes one request from a number: what it is, and what is wrong with it.

import { toPost } from '../helpers/request.ts'
import type { Draft, Knowledge, KnownSession, OrdinaryMessage } from './drafts.ts'
import { damage } from './drafts.ts'
import { makeProbe } from './probes.ts'
import { LEGACY, MODERN } from './messages.ts'
import { mutateHeaders, mutateJson, mutateText } from './mutations.ts'
import { makeFileRequest, makeOtherRequest, makeRawRequest } from './other-requests.ts'
import { Random, type Json } from './random.ts'

type Header = readonly [name: string, value: string]

/** What the requests of a run have in common. */
export interface FuzzedService {
  /** The Authorization headers of callers. Most are not good. */
  readonly authorizations: readonly string[]
}

const LEGACY_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25']
const CAPABILITIES = {
  elicitation: { form: {}, url: {} }, sampling: { tools: {}, context: {} }, roots: { listChanged: true }
}
const EXTENSIONS: Json = { 'io.modelcontextprotocol/tasks': {}, 'io.modelcontextprotocol/ui': {} }
/** Each request of this number is good. */
const PROBE_EVERY = 40

export function makeRequest (seed: number, index: number, known: Knowledge, service: FuzzedService): Draft {
  const random = Random.of(seed, index)
  if (index % PROBE_EVERY === PROBE_EVERY - 1) return makeProbe(random, known)
  return random.weighted<() => Draft>([
    [45, () => makeModern(random, known, service)],
    [33, () => makeLegacy(random, known, service)],
    [9, () => makeFileRequest(random, known)],
    [6, () => makeOtherRequest(random)],
    [4, () => makeRawRequest(random)]
  ])()
}

function makeModern (random: Random, known: Knowledge, service: FuzzedService): Draft {
  const message: OrdinaryMessage = random.weighted(MODERN)(random, known)
  const { method, params, leaveAfterMs } = message
  const meta = {
    ...(random.chance(0.7) && {
      'io.modelcontextprotocol/clientCapabilities': { ...CAPABILITIES, extensions: EXTENSIONS }
    }),
    ...(random.chance(0.4) && { progressToken: random.pick<Json>([1, 'p', random.json(1)]) }),
    ...(random.chance(0.3) && {
      'io.modelcontextprotocol/logLevel': random.pick(['debug', 'error', random.text()])
    })
  }
  const id = random.chance(0.9) ? random.below(1000) : random.text()
  const isNotification = random.chance(0.03)
  const { region, size } = readArguments(params.arguments)
  const { headers, body: json } = toPost({
    method,
    params,
    meta,
    id,
    headers: {
      ...(params.name === 'routed' && { 'mcp-param-region': encode(region), 'mcp-param-size': String(size) }),
      ...(params.name === 'repeats' && random.chance(0.6) && { 'idempotency-key': `k${random.below(9)}` })
    }
  })
  const body: { [key: string]: Json } = JSON.parse(json)
  if (isNotification) delete body.id
  return finish(random, known, service, {
    kind: `modern ${toKind(method)}`, headers: Object.entries(headers), body, leaveAfterMs, session: undefined
  })
}

function readArguments (value: Json | undefined): { readonly region?: Json, readonly size?: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}

function encode (value: Json | undefined): string {
  const text = String(value)
  return /^[ -~]*$/.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}

/** Kinds are few: they are counted. */
function toKind (method: string): string {
  return /^[a-z]{1,20}(?:\/[a-z/]{1,30})?$/i.test(method) ? method : 'of another method'
}

function makeLegacy (random: Random, known: Knowledge, service: FuzzedService): Draft {
  const one = random.below(12)
  const session = known.sessions[one % Math.max(1, known.sessions.length)]
  if (session === undefined || random.chance(0.06)) return makeHandshake(random, known, service)
  const kind = random.below(20)
  if (kind === 0) return makeStream(random, known, service, session)
  if (kind === 1) {
    const isEnd = random.chance(0.3)
    return finish(random, known, service, {
      kind: 'legacy end',
      method: isEnd ? 'DELETE' : 'GET',
      headers: sessionHeaders(session, random),
      session,
      leaveAfterMs: 15
    })
  }
  if (kind === 2) return makeSaid(random, known, service, session)
  if (kind === 3) return makeBatch(random, known, service, session)
  const { method, params, leaveAfterMs } = random.weighted(LEGACY)(random, known)
  return finish(random, known, service, {
    kind: `legacy ${toKind(method)}`,
    headers: sessionHeaders(session, random),
    body: toLegacyRequest(random, method, params),
    leaveAfterMs,
    session
  })
}

function toLegacyRequest (random: Random, method: string, params: OrdinaryMessage['params']): Json {
  const meta = random.chance(0.3) && { _meta: { progressToken: random.pick<Json>([1, 'p']) } }
  return {
    jsonrpc: '2.0',
    id: random.chance(0.9) ? random.below(1000) : random.text(),
    method,
    params: { ...params, ...meta }
  }
}

function sessionHeaders ({ token, revision }: KnownSession, random: Random): Header[] {
  return [
    ['Content-Type', 'application/json'], ['Accept', 'application/json, text/event-stream'],
    ['Mcp-Session-Id', random.chance(0.98) ? token : damage(token, random)],
    ...(revision >= '2025-06-18' ? [['Mcp-Protocol-Version', revision] as const] : [])
  ]
}

function makeHandshake (random: Random, known: Knowledge, service: FuzzedService): Draft {
  const protocolVersion = random.chance(0.95) ? random.pick(LEGACY_REVISIONS) : random.text()
  const body = {
    jsonrpc: '2.0',
    id: random.below(1000),
    method: 'initialize',
    params: {
      protocolVersion,
      capabilities: random.chance(0.7) ? CAPABILITIES : {},
      clientInfo: { name: random.chance(0.9) ? 'fuzz' : random.text(), version: '1' }
    }
  }
  const headers: Header[] = [
    ['Content-Type', 'application/json'], ['Accept', 'application/json, text/event-stream']
  ]
  return finish(random, known, service, { kind: 'legacy initialize', headers, body }, 0.2)
}

/** The stream of a session, or the rest of a call's stream. */
function makeStream (
  random: Random, known: Knowledge, service: FuzzedService, session: KnownSession
): Draft {
  const headers: Header[] = [
    ['Accept', 'text/event-stream'], ...sessionHeaders(session, random).slice(2),
    ...(random.chance(0.6) ? [['Last-Event-ID', known.use(random, 'eventIds')] as const] : [])
  ]
  return finish(random, known, service, {
    kind: 'legacy stream', method: 'GET', headers, session, leaveAfterMs: 20
  })
}

/** A notification, or the answer to a request of the service. */
function makeSaid (random: Random, known: Knowledge, service: FuzzedService, session: KnownSession): Draft {
  const body = random.pick<() => Json>([
    () => ({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    () => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: random.below(1000) } }),
    () => ({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }),
    () => ({
      jsonrpc: '2.0', id: known.use(random, 'questions'), result: { action: 'accept', content: { size: 's' } }
    }),
    () => ({ jsonrpc: '2.0', id: known.use(random, 'questions'), result: random.json() }),
    () => ({
      jsonrpc: '2.0', id: known.use(random, 'questions'), error: { code: random.number(), message: 'no' }
    })
  ])()
  return finish(random, known, service, {
    kind: 'legacy said', headers: sessionHeaders(session, random), body, session
  })
}

function makeBatch (random: Random, known: Knowledge, service: FuzzedService, session: KnownSession): Draft {
  const length = random.weighted([[8, random.below(5)], [1, 101]])
  const body = Array.from({ length }, () => {
    const { method, params } = random.weighted(LEGACY)(random, known)
    const message = toLegacyRequest(random, method, params)
    return random.chance(0.2) ? mutateJson(message, random) : message
  })
  return finish(random, known, service, {
    kind: 'legacy batch', headers: sessionHeaders(session, random), body, session, leaveAfterMs: 60
  })
}

interface Unfinished {
  readonly kind: string
  readonly method?: string
  readonly headers: readonly Header[]
  readonly body?: Json
  readonly leaveAfterMs?: number | undefined
  readonly session?: KnownSession | undefined
}

/** Adds what is wrong: nothing in four of ten requests. */
function finish (
  random: Random, known: Knowledge, { authorizations }: FuzzedService,
  { kind, method = 'POST', headers, body, leaveAfterMs, session }: Unfinished, wrong = 0.6
): Draft {
  const isWrong = random.chance(wrong)
  const mayBeWrong = (probability: number) => isWrong && random.chance(probability)
  const authorization = random.chance(0.93) ? known.authorization : random.pick(authorizations)
  let sentHeaders: readonly Header[] = authorization === undefined
    ? headers
    : [...headers, ['Authorization', authorization]]
  let sentBody: Json | undefined = body
  let text: string | Buffer | undefined
  if (isWrong && body !== undefined) {
    for (let count = random.below(4); count > 0; count--) sentBody = mutateJson(sentBody ?? null, random)
  }
  if (body !== undefined && mayBeWrong(0.1)) text = mutateText(JSON.stringify(sentBody), random)
  if (mayBeWrong(0.35)) sentHeaders = mutateHeaders(sentHeaders, random)
  const others = ['GET', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']
  const sentMethod = mayBeWrong(0.03) ? random.pick(others) : method
  const path = mayBeWrong(0.03) ? random.pick(['/mcp/', '/mcp?x=1', '/MCP', '/', '/mcp//']) : '/mcp'
  // A good stream has no end, and a mutation may make one.
  const leave = leaveAfterMs ?? (isWrong || sentMethod === 'GET' ? 500 : undefined)
  return {
    kind,
    target: 'main',
    method: sentMethod,
    path,
    headers: sentHeaders,
    ...(sentBody !== undefined && { body: text ?? JSON.stringify(sentBody) }),
    ...(leave !== undefined && { leaveAfterMs: leave }),
    ...(session !== undefined && { session })
  }
}
