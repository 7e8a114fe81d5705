// What must hold of each answer, and of each line of the log.

import { isObject } from '../../src/platform/protocol/json-rpc.ts'
import { isLegacyRevision } from '../../src/platform/protocol/revisions.ts'
import type { Message } from '../helpers/request.ts'
import { problemsOf } from '../helpers/wire-schema.ts'
import { CAUSE_CANARY, CLIENT_CANARY, PRIVATE_CANARY, SECRET_CANARY } from './canaries.ts'
import { FAILING } from './catalog.ts'
import type { WireAnswer } from './client.ts'
import type { Draft } from './drafts.ts'

const CURRENT = '2026-07-28'
/** The revision of a request without a session and without a version. */
const ASSUMED = '2025-03-26'
/** What an answer may have. 5xx are looked at one by one. */
const STATUSES: ReadonlySet<number> = new Set([
  200, 202, 204, 206, 304, 400, 401, 403, 404, 405, 406, 408, 409, 413, 415, 416, 417, 422, 429, 431
])
/** What a service that is asked too much says. */
const OVERLOADED = /Too many|The limit is reached|The response could not be passed on/
const INTERNAL_ERROR = -32603
/** Internal errors that no handler has thrown. */
const STOPPED = /^The request was (?:stopped after \d+ ms|cancelled)$/

/** The methods of requests in sessions, whose answers may come by another stream. */
const RESUMABLE = [
  'tools/call', 'tools/list', 'prompts/list', 'prompts/get', 'resources/list', 'resources/templates/list',
  'resources/read', 'completion/complete', 'ping'
]

/** The messages of an answer of the endpoint. */
export interface ReadAnswer { readonly messages: readonly Message[], readonly eventIds: readonly string[] }

/** Throws for a body that is not JSON. */
export function readAnswer ({ headers, body, isComplete }: WireAnswer): ReadAnswer {
  const type = headers['content-type'] ?? ''
  if (type.startsWith('text/event-stream')) return readEvents(body)
  const isJson = type.startsWith('application/json') && body !== '' && isComplete
  return { messages: isJson ? [JSON.parse(body)].flat() : [], eventIds: [] }
}

function readEvents (body: string): ReadAnswer {
  const lines = body.slice(0, body.lastIndexOf('\n\n') + 1).split('\n')
  const valuesOf = (field: string) => lines.filter((line) => line.startsWith(field))
    .map((line) => line.slice(field.length))
  return {
    messages: valuesOf('data: ').filter((data) => data !== '').map((data) => JSON.parse(data)),
    eventIds: valuesOf('id: ')
  }
}

/** Returns every problem of the answer. */
export function checkAnswer (draft: Draft, answer: WireAnswer): string[] {
  const { status, body, isComplete } = answer
  if (status === 0 && draft.leaveAfterMs !== undefined) return []
  const problems = [...findCanaries(draft, answer)]
  if (!STATUSES.has(status) && !isIntended(draft, answer)) problems.push(`status ${status}`)
  if (!isComplete && draft.leaveAfterMs === undefined) problems.push('the answer has no end')
  if (draft.judge !== undefined) {
    const problem = draft.judge(status, body)
    if (problem !== undefined) problems.push(problem)
  }
  const { target, path, raw } = draft
  const isOfEndpoint = target === 'main' && /^\/mcp\/?(?:\?|$)/.test(path) && raw === undefined
  return isOfEndpoint ? [...problems, ...checkMessages(draft, answer)] : problems
}

function isIntended ({ raw, method }: Draft, { status, body }: WireAnswer): boolean {
  if (status === 503) return OVERLOADED.test(body)
  if (status === 507) return body.includes('Not stored')
  // The HTTP server of Node does not speak this version of HTTP.
  return status === 505 && raw !== undefined && method === 'GET'
}

function * findCanaries ({ target, kind }: Draft, { body, headers }: WireAnswer): Generator<string> {
  const text = `${JSON.stringify(headers)}\n${body}`
  for (const canary of [SECRET_CANARY, PRIVATE_CANARY, CAUSE_CANARY]) {
    if (text.includes(canary)) yield `the answer has ${canary}`
  }
  if (target === 'admin' && kind !== 'raw bytes' && body.startsWith('#') && body.includes(CLIENT_CANARY)) {
    yield 'the metrics have a text of a client'
  }
}

function checkMessages (draft: Draft, answer: WireAnswer): string[] {
  let read: ReadAnswer
  try {
    read = readAnswer(answer)
  } catch {
    return ['the answer is not JSON']
  }
  const methods = readMethods(draft.body)
  return read.messages.flatMap((message) => checkMessage(message, draft, methods))
}

function checkMessage (message: Message, draft: Draft, methods: ReadonlyMap<unknown, string>): string[] {
  // A preflight, an answer to HEAD, or of a path that the service does not have.
  if (isObject(message) && 'statusCode' in message) return []
  const { session, headers } = draft
  const sent = methods.get(message.id) ?? methods.get(undefined)
  // The rest of a stream does not say what it answers.
  const names = draft.body === undefined && session !== undefined ? RESUMABLE : [sent]
  const findings = revisionsOf(message, session?.revision ?? versionIn(headers)).flatMap(
    (revision) => names.map((method) => problemsOf(message, revision, method))
  )
  const problems = findings.some((one) => one.length === 0) ? [] : findings[0] ?? []
  if (message.error?.code === INTERNAL_ERROR && !isOnPurpose(message, draft)) {
    return [...problems, `internal error: ${JSON.stringify(message.error)}`]
  }
  return problems
}

/** The revisions of which one must have the message. */
function revisionsOf (message: Message, revision: string): readonly string[] {
  if (message.result?.protocolVersion !== undefined) return [message.result.protocolVersion]
  if (message.result?.resultType !== undefined) return [CURRENT]
  return 'error' in message || 'method' in message ? [revision, CURRENT] : [revision]
}

function versionIn (headers: Draft['headers']): string {
  const [, version = ASSUMED] = headers.find(([name]) => name.toLowerCase() === 'mcp-protocol-version') ?? []
  return isLegacyRevision(version) ? version : CURRENT
}

function isOnPurpose ({ error }: Message, { body }: Draft): boolean {
  // The rest of a stream does not say what it answers. The line of the log names the handler.
  if (STOPPED.test(error.message) || body === undefined) return true
  const text = String(body)
  return error.message === 'Internal error' && [...FAILING].some((name) => text.includes(name))
}

/** The methods of the requests, by their ids. Under `undefined` that of the only one. */
function readMethods (body: unknown): ReadonlyMap<unknown, string> {
  const methods = new Map<unknown, string>()
  try {
    const sent: unknown = JSON.parse(String(body).replace(/^\ufeff/, ''))
    for (const one of Array.isArray(sent) ? sent : [sent]) {
      if (!isObject(one) || typeof one.method !== 'string') continue
      methods.set(one.id, one.method)
      if (!Array.isArray(sent)) methods.set(undefined, one.method)
    }
  } catch {
    // A body that is not JSON has no method.
  }
  return methods
}

/** Tokens, session ids, links and request states look like this. */
export const SEALED = /[\w-]{40,}/g

/** Checks lines of the log. Returns every problem of one. */
export function createLineCheck (secrets: readonly string[], isSealed: (text: string) => boolean) {
  return (line: string): string[] => {
    const problems = [SECRET_CANARY, PRIVATE_CANARY, ...secrets].filter((text) => line.includes(text))
      .map((text) => `the log has ${text}`)
    if (line.includes(CLIENT_CANARY) && JSON.stringify(withoutAddress(line)).includes(CLIENT_CANARY)) {
      problems.push(`the log has ${CLIENT_CANARY}`)
    }
    for (const [text] of line.matchAll(SEALED)) {
      if (isSealed(text)) problems.push(`the log has the sealed ${text}`)
    }
    const [, level] = /^\{"level":(\d+)/.exec(line) ?? []
    if (Number(level) >= 50 && !isExpected(line)) problems.push('the log has an error')
    return problems
  }
}

/** Without the fields of a refused request that clients write. */
function withoutAddress (line: string): object {
  const { path, host, origin, reason, ...others } = JSON.parse(line)
  return others
}

/** Whether a handler that fails on purpose is the reason of an error. */
function isExpected (line: string): boolean {
  const { name, msg, err } = JSON.parse(line)
  return msg === 'request failed' && (FAILING.has(name) || STOPPED.test(err?.message))
}
