// What a handler asks for: read once, before anything is sent.

import type { UpstreamInit } from '../../platform/author/upstream-fetch.ts'
import type { CompiledUpstream } from './definition/compile-upstream.ts'
import { AcceptedMedia } from './accepted-media.ts'
import type { CallRequest } from './calling-upstream.ts'
import { readCallBody, readHeaders, readMethod } from './request-head.ts'
import { readCallTarget } from './target.ts'

/** Throws a TypeError for what a handler may not ask for. */
export function readCallRequest (
  { url, timeoutMs }: CompiledUpstream, path: string, init: UpstreamInit
): CallRequest | Promise<CallRequest> {
  if (typeof init !== 'object' || init === null) throw new TypeError('fetch: init must be an object')
  const target = readCallTarget(url, path, init.query)
  const method = init.method === undefined ? 'GET' : readMethod(init.method)
  const request = {
    method,
    target,
    headers: readHeaders(init.headers),
    body: undefined,
    accepted: init.accept === undefined ? undefined : new AcceptedMedia(init.accept),
    timeoutMs: Math.min(timeoutMs, readTimeout(init.timeoutMs)),
    signal: readSignal(init.signal)
  }
  const body = readCallBody(init, method)
  if (body === undefined) return request
  return body instanceof Promise
    ? body.then((settled) => ({ ...request, body: settled }))
    : { ...request, body }
}

function readTimeout (timeoutMs: number | undefined): number {
  if (timeoutMs === undefined) return Infinity
  if (!(timeoutMs > 0)) throw new TypeError('fetch: timeoutMs must be a number above 0')
  return timeoutMs
}

function readSignal (signal: AbortSignal | null | undefined): AbortSignal | undefined {
  if (signal === undefined || signal === null) return undefined
  if (!(signal instanceof AbortSignal)) throw new TypeError('fetch: signal must be an AbortSignal')
  return signal
}
