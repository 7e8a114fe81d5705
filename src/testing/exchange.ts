// Sends requests to the pipeline, as a transport does. There is no HTTP between.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Principal } from '../access/principal.ts'
import type { Service } from '../app.ts'
import { readEnvelope, toEnvelopeJson } from '../protocol/envelope.ts'
import type { ProtocolError } from '../protocol/errors.ts'
import { isRequest, readMessage } from '../protocol/json-rpc.ts'
import type { Outlet } from '../request/pipeline/caller.ts'
import { ClientGone, type Lifetime } from '../request/pipeline/lifetime.ts'
import type { Report } from './report.ts'
import { uploadFile } from './test-files.ts'
import type { TestClient } from './test-options.ts'
import type { TestUpload } from './test-question.ts'

/** Who sends the requests of one caller. */
export interface TestSender { readonly principal: Principal, readonly client: Required<TestClient> }

export interface TestRequest {
  readonly method: string
  readonly params: object
  readonly meta?: { readonly [key: string]: unknown }
  readonly headers?: { readonly [name: string]: string }
  readonly signal?: AbortSignal
}

/** The result as JSON, or the error that a client would receive. */
export type Reply = { readonly json: string } | { readonly error: ProtocolError }

export interface Exchange {
  /** Rejects once the exchange is closed. Never rejects because of the answer. */
  send (request: TestRequest, sender: TestSender, report: Report): Promise<Reply>
  /** Sends a file to the page of an upload. Rejects with an Error if the page refuses the file. */
  upload (url: unknown, file: TestUpload): Promise<void>
  /** Resolves when the lists are made again that handlers have said to be outdated. */
  settleLists (): Promise<void>
  /** Refuses later requests. */
  close (): void
}

/** @param onNotification is called with each notification of a handler, as JSON. */
export function createExchange (
  { pipeline, broadcast, lists, app }: Service, onNotification: (json: string) => void = () => {}
): Exchange {
  const reports = new AsyncLocalStorage<Report>()
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
      const sent = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })
      const message = readMessage(JSON.parse(sent))
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
    settleLists: lists.settle,
    close () { isClosed = true }
  }
}

function toOutlet (
  resolve: (reply: Reply) => void, notify: (json: string) => void, signal?: AbortSignal
): Outlet {
  return {
    onPending (lifetime) { if (signal !== undefined) stopOnAbort(lifetime, signal) },
    notify,
    succeed: (json) => resolve({ json: String(json) }),
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
