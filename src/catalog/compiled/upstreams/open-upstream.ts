// An upstream that is open, and who calls it.

import type { UpstreamInit } from '../../../platform/author/upstream-fetch.ts'
import type { Sender } from '../../../platform/limits/holder.ts'

/** The identity that an upstream is called with. */
export type ActsAs = 'nobody' | 'service' | 'caller'

/** The part of the service's log that calls use. */
export interface UpstreamLog {
  debug (fields: object, message: string): void
  warn (fields: object, message: string): void
}

/** The span of one call. */
export interface UpstreamSpan {
  /** The value of the header `traceparent`. */
  readonly traceparent: string
  /** Sends the call. No library that is instrumented makes a span of it. */
  run (send: () => void): void
  /** @param end the status of the answer, or why there is none. */
  end (end: { readonly status: number } | { readonly error: string }): void
}

/** @param reason `undefined` if the request has ended. */
export type AbortCall = (reason: Error | undefined) => void

/** What an upstream needs of the request that calls it. */
export interface UpstreamCaller {
  readonly sender: Sender
  /** Whether the service calls for itself, with no arguments of a caller. `false` by default. */
  readonly isService?: boolean
  /** The log of the service by default. */
  readonly log?: UpstreamLog
  /** How much of the time of the request is left, at least, in milliseconds. */
  readonly leftMs: number
  /**
   * Counts a call that runs. `abort` is called with the reason when the request is stopped, and without one
   * when it has ended. Returns a function that ends the counting, and throws if the request is stopped or has
   * ended.
   */
  begin (abort: AbortCall): () => void
  /** Notes a call that has ended, for the audit log. */
  note (upstream: string, as: ActsAs, hasFailed: boolean): void
  /** Begins the span of a call. `undefined` if the request is not traced. */
  span (method: string, upstream: string, host: string): UpstreamSpan | undefined
}

export interface OpenUpstream {
  /**
   * Rejects with an UpstreamError, with a TypeError, or with the reason for which the request was stopped.
   */
  fetch (caller: UpstreamCaller, path: string, init?: UpstreamInit): Promise<Response>
  /** Ends the calls that run, and closes all connections. */
  close (): Promise<void>
}
