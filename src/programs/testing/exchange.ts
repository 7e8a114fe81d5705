// Sends requests to the pipeline, as a transport does. There is no HTTP between.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Principal } from '../../platform/access/principal.ts'
import type { Service } from '../../app/app.ts'
import { toWellFormedJson } from '../../base/text.ts'
import { clock, timers } from '../../base/time.ts'
import { readEnvelope, toEnvelopeJson } from '../../platform/protocol/envelope.ts'
import type { ProtocolError } from '../../platform/protocol/errors.ts'
import { isRequest, readMessage } from '../../platform/protocol/json-rpc.ts'
import type { Outlet } from '../../request/pipeline/caller.ts'
import { ClientGone, type Lifetime } from '../../request/pipeline/lifetime.ts'
import { uploadFile } from './files.ts'
import { assertCallerNames } from './known-names.ts'
import type { TestCallerOptions, TestClient } from './options.ts'
import type { TestUpload } from './question.ts'
import type { Causes } from './causes.ts'
import type { HandlerReport } from './results.ts'

/** The sender of the requests of one caller. */
export interface TestSender { readonly principal: Principal, readonly client: Required<TestClient> }

const ALL_CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  sampling: { context: {}, tools: {} },
  roots: {},
  extensions: { 'io.modelcontextprotocol/tasks': {} }
}
const CLIENT_INFO = { name: 'trivet/testing', version: '1.0.0' }

export function toTestSender (caller: TestCallerOptions = {}, client: TestClient = {}): TestSender {
  assertCallerNames(caller, client)
  const { scopes = [], host, ...principal } = caller
  const capabilities = host === 'plain' ? {} : ALL_CAPABILITIES
  return {
    principal: Object.freeze({ ...principal, scopes: new Set(scopes) }),
    client: { capabilities, info: CLIENT_INFO, ...client }
  }
}

export interface TestRequest {
  readonly method: string
  readonly params: object
  readonly meta?: { readonly [key: string]: unknown }
  readonly headers?: { readonly [name: string]: string }
  readonly signal?: AbortSignal
}

/** The result as JSON, or the error that a client would receive. */
export type Reply = { readonly json: string } | { readonly error: ProtocolError }

/**
 * The request was answered with a JSON-RPC error: the primitive is unknown or hidden, a scope is missing, a
 * client capability is missing, or the handler failed. The message is the one that a client receives.
 *
 * If the handler threw, `cause` is its error, with the file and the line of the catalog in its stack. A
 * client never receives it.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes
 */
export class RequestError extends Error {
  /** Such as -32602 for invalid params, -32603 for an internal error, 403 for a missing scope. */
  readonly code: number
  /** Such as `{ requiredScopes }` for a missing scope. `undefined` if the error has none. */
  readonly data: unknown

  constructor (
    { message, code, data, cause }: Pick<ProtocolError, 'message' | 'code'> & Partial<ProtocolError>
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'RequestError'
    this.code = code
    this.data = data
  }
}

export interface Exchange {
  /** Whether each request goes over a network. */
  readonly isRemote?: boolean
  /** Is told each text about a call that goes on, which is for the model of a client. */
  readonly onText?: (text: string) => void
  /** Is told each state of a task that is followed. */
  readonly onTask?: (
    state: { readonly taskId: string, readonly status: string, readonly statusMessage?: string }
  ) => void
  /** Returns what a handler threw. @param data of the error that a client receives. */
  readonly findCause?: (data: unknown) => unknown
  /** Rejects once the exchange is closed. Never rejects because of the answer. */
  send (request: TestRequest, sender: TestSender, report: HandlerReport): Promise<Reply>
  /** Sends a file to the page of an upload. Rejects with an Error if the page refuses the file. */
  upload (url: unknown, file: TestUpload): Promise<void>
  /** Resolves when the task sleeps, asks or has ended, or after a second. */
  settleTask? (taskId: string): Promise<void>
  /** Resolves when the lists are made again that handlers have said to be outdated. */
  settleLists (): Promise<void>
  /** Refuses later requests. */
  close (): void
}

/** What is told while a request is served. */
export interface ExchangeListeners extends Pick<Exchange, 'onText' | 'onTask'> {
  /** Called with each notification of a handler, as JSON, when it is sent. */
  readonly onNotification?: (json: string) => void
}

export function createExchange (
  { pipeline, broadcast, lists, app, tasks }: Service,
  { onNotification = () => {}, onText = () => {}, onTask = () => {} }: ExchangeListeners,
  findCause: Causes['find']
): Exchange {
  const reports = new AsyncLocalStorage<HandlerReport>()
  let count = 0
  let isClosed = false

  // The broadcast of memory calls its listeners at once, within the handler that announces the change.
  broadcast.subscribe((event) => {
    if (event.type === 'resource-updated') reports.getStore()?.addChange(event)
  })

  return {
    async send ({ method, params, meta, headers = {}, signal }, { principal, client }, report) {
      if (isClosed) throw new Error('The catalog is closed.')
      const id = `test-${++count}`
      const _meta = { ...meta, ...toEnvelopeJson({ ...client, progressToken: id }) }
      const json = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })
      const message = readMessage(JSON.parse(json))
      if (!isRequest(message)) throw new TypeError('the message is not a request')
      const envelope = readEnvelope(message.params)
      const caller = { principal, envelope, requestId: id, log: app.log.child({ reqId: id }), headers }
      return await new Promise<Reply>((resolve) => {
        const notify = (json: string) => {
          report.addNotification(json)
          onNotification(json)
        }
        const outlet = toOutlet(resolve, notify, signal)
        reports.run(report, () => pipeline.serve(message, caller, outlet))
      })
    },
    upload: async (url, file) => await uploadFile(app, url, file),
    onText,
    onTask,
    findCause,
    async settleTask (taskId) {
      const endsAt = clock.monotonic() + SETTLE_MS
      while (clock.monotonic() < endsAt && await isRunning(tasks, taskId)) await timers.pause(2)
    },
    settleLists: lists.settle,
    close () { isClosed = true }
  }
}

/** How long a test waits for a task to sleep, to ask or to end, in milliseconds. */
const SETTLE_MS = 1000

async function isRunning (tasks: Service['tasks'], taskId: string): Promise<boolean> {
  const task = await tasks?.operator.show(taskId)
  return task !== undefined && 'phase' in task && task.phase === 'running'
}

function toOutlet (
  resolve: (reply: Reply) => void, notify: (json: string) => void, signal?: AbortSignal
): Outlet {
  return {
    onPending (lifetime) { if (signal !== undefined) stopOnAbort(lifetime, signal) },
    notify,
    succeed: (json) => resolve({ json: toWellFormedJson(String(json)) }),
    fail: (error) => resolve({ error }),
    leaveUnanswered () {},
    openStream () { throw new TypeError('a test opens no streams') }
  }
}

function stopOnAbort (lifetime: Lifetime, signal: AbortSignal): void {
  const stop = () => lifetime.stop(new ClientGone())
  if (signal.aborted) return stop()
  signal.addEventListener('abort', stop, { once: true })
  lifetime.onEnd(() => signal.removeEventListener('abort', stop))
}
