// What a call needs of its upstream, and what it says of itself.

import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { Principal } from '../../platform/access/principal.ts'
import type { UpstreamErrorCode } from '../../platform/author/upstream-error.ts'
import type { CircuitBreaker } from '../../base/circuit-breaker.ts'
import type { ActsAs, UpstreamCaller } from '../../catalog/compiled/upstreams/open-upstream.ts'
import type { AcceptedMedia } from './accepted-media.ts'
import type { Credential } from './credentials/credential.ts'
import type { CallBody, HeaderValues } from './request-head.ts'
import type { CallTarget } from './target.ts'

export interface CallRequest {
  readonly method: string
  readonly target: CallTarget
  readonly headers: HeaderValues
  readonly body: CallBody | undefined
  readonly accepted: AcceptedMedia | undefined
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/**
 * How a call ended, for metrics. `caller`: there is no credential for this caller. `credential`: there is
 * none for anybody. `cancelled`: its request or its handler wanted no more of it.
 */
export type CallOutcome = UpstreamErrorCode | 'ok' | 'server_error' | 'invalid' | 'caller' | 'cancelled'

/** Sends requests to one origin. */
export interface Transport {
  dispatch (request: WireRequest, handler: AnswerHandler): void
  /** Ends what runs, and closes all connections. */
  close (): Promise<void>
}

export interface WireRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string | null
  /** The principal that the request is sent for. Only a stand-in has a use for it. */
  readonly principal: Principal
}

export type AnswerController = Dispatcher.DispatchController

/** Takes what comes of one request. */
export interface AnswerHandler {
  onRequestStart (controller: AnswerController): void
  onResponseStart (
    controller: AnswerController, status: number, headers: IncomingHttpHeaders, statusText?: string
  ): void
  onResponseData (controller: AnswerController, chunk: Buffer): void
  onResponseEnd (): void
  onResponseError (controller: AnswerController, error: Error): void
}

/** How a call went, for the log and for metrics. */
export interface CallFacts {
  readonly method: string
  /** Without query. */
  readonly path: string
  readonly status: number | undefined
  readonly outcome: CallOutcome
  readonly ms: number
  readonly cause: unknown
}

/** What a call needs of its upstream. */
export interface CallingUpstream {
  readonly name: string
  readonly url: URL
  readonly actsAs: ActsAs
  readonly attempts: number
  readonly backoffMs: number
  readonly maxBytes: number
  readonly credential: Credential
  readonly breaker: CircuitBreaker
  dispatch (request: WireRequest, handler: AnswerHandler): void
  /** Called before a call waits for its credential. Throws a CallError if too many do. */
  beginWaiting (call: object): void
  /** Called when the credential is there. Throws a CallError if too many calls ask meanwhile. */
  endWaiting (call: object): void
  /** Called once, when the call has ended. */
  end (call: object, facts: CallFacts, caller: UpstreamCaller): void
}
