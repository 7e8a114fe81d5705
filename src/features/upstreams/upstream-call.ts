// One call of an upstream: its deadline, its attempts, and its end.

import { setMaxListeners } from 'node:events'
import type { Principal } from '../../platform/access/principal.ts'
import { unlessAborted } from '../../base/deadline.ts'
import { pauseAfter, readRetryAfter } from '../../base/retry.ts'
import { clock, timers, type Timer } from '../../base/time.ts'
import { toError } from '../../base/words.ts'
import type { UpstreamCaller, UpstreamSpan } from '../../catalog/compiled/upstreams/open-upstream.ts'
import { UpstreamAnswer } from './answer.ts'
import { answerFailure, circuitHolderOf, findFailure } from './blame.ts'
import type { CallingUpstream, CallOutcome, CallRequest } from './calling-upstream.ts'
import { CallError, credentialFailed, mayPass, toUpstreamError } from './call-error.ts'
import { CredentialError, type CredentialCaller, type CredentialHeaders } from './credentials/credential.ts'
import { addCredential, isIdempotent } from './request-head.ts'
import { findRedirect } from './redirect.ts'
import type { CallTarget } from './target.ts'

const MAX_REDIRECTS = 5
/** The upstream, or a proxy before it, says that the same request may succeed later. */
const PASSING = new Set([429, 502, 503, 504])
const MAX_PAUSE_MS = 5000

export class UpstreamCall implements CredentialCaller {
  readonly #upstream: CallingUpstream
  readonly #caller: UpstreamCaller
  readonly #request: CallRequest
  readonly #endsAt: number
  readonly #startedAt = clock.monotonic()
  readonly #timer: Timer
  readonly #span: UpstreamSpan | undefined
  readonly #leave: () => void
  #controller: AbortController | undefined
  #answer: UpstreamAnswer | undefined
  /** Why the call ended before its answer did. */
  #stopped: Error | undefined
  /** Whether the handler has the answer. */
  #isAnswered = false
  #isOver = false
  #status: number | undefined

  /** Throws if the request of the caller is stopped or over. */
  constructor (upstream: CallingUpstream, caller: UpstreamCaller, request: CallRequest) {
    const { method, timeoutMs, signal } = request
    this.#upstream = upstream
    this.#caller = caller
    this.#request = request
    this.#endsAt = this.#startedAt + timeoutMs
    signal?.throwIfAborted()
    this.#leave = caller.begin((reason) => {
      if (reason === undefined) this.#drop()
      else this.stop(reason)
    })
    this.#span = caller.span(method, upstream.name, upstream.url.hostname)
    this.#timer = timers.setTimeout(() => this.stop(new CallError('timeout', undefined)), timeoutMs)
    if (signal === undefined) return
    // Each call of a handler may listen to one signal.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  get principal (): Principal { return this.#caller.sender.principal }

  get signal (): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#isOver || this.#stopped !== undefined) this.#controller.abort(this.#stopped)
    }
    return this.#controller.signal
  }

  /** Resolves to the answer. Rejects with what a handler may see. */
  async run (): Promise<Response> {
    try {
      const answer = await this.#findAnswer()
      this.#checkType(answer)
      const response = answer.toResponse((error) => this.#end(error))
      this.#isAnswered = true
      return response
    } catch (error) {
      const reason = this.#stopped ?? toError(error)
      this.#answer?.abort(reason)
      this.#end(reason)
      throw this.#toHandlerError(reason)
    }
  }

  /** Ends the call. The handler that waits for it, or reads its body, gets the reason. */
  stop (reason: Error): void {
    if (this.#isOver || this.#stopped !== undefined) return
    this.#stopped = reason
    this.#controller?.abort(reason)
    this.#answer?.abort(reason)
  }

  /** Ends the call with its request. An answer that was not read to its end is no failure. */
  #drop (): void {
    const reason = new Error('the request has ended')
    if (this.#isAnswered) this.#answer?.abort(reason)
    else this.stop(reason)
  }

  readonly #onAbort = (): void => this.stop(toError(this.#request.signal?.reason))

  async #findAnswer (): Promise<UpstreamAnswer> {
    let { target } = this.#request
    let redirects = 0
    let hasForgotten = false
    for (let attempt = 1; ;) {
      const answer = await this.#attempt(target, attempt)
      if (answer === undefined) {
        attempt++
        continue
      }
      this.#status = answer.status
      const next = findRedirect(answer, this.#request.method, this.#upstream.url, target)
      if (next !== undefined) {
        if (++redirects > MAX_REDIRECTS) throw new CallError('redirected', new Error('too many redirects'))
        target = next
      } else if (answer.status === 401 && !hasForgotten && this.#forgetsCredential()) {
        hasForgotten = true
      } else {
        const pauseMs = this.#pauseBeforeRetry(answer, attempt)
        if (pauseMs === undefined) return answer
        answer.abort(new Error('another attempt is made'))
        await timers.pause(pauseMs, { signal: this.signal })
        attempt++
        continue
      }
      answer.abort(new Error('another attempt is made'))
    }
  }

  #forgetsCredential (): boolean { return this.#upstream.credential.forget?.(this) === true }

  /** Returns `undefined` if the attempt failed, and another one may be made. */
  async #attempt (target: CallTarget, attempt: number): Promise<UpstreamAnswer | undefined> {
    try {
      return await this.#send(target)
    } catch (error) {
      if (!(error instanceof CallError)) throw error
      if (!this.#mayRepeat(attempt) || !mayPass(error)) throw error
      await timers.pause(this.#backoff(attempt - 1), { signal: this.signal })
      return undefined
    }
  }

  async #send (target: CallTarget): Promise<UpstreamAnswer> {
    const { name, breaker, credential, maxBytes } = this.#upstream
    const { method, body, accepted } = this.#request
    this.#throwIfOut()
    const reading = credential.headers(this)
    const credentialHeaders = reading instanceof Promise ? await this.#waitFor(reading) : reading
    const head = { headers: this.#request.headers, accept: accepted?.header, body }
    const headers = addCredential(head, credentialHeaders, name)
    if (this.#span !== undefined) headers.traceparent ??= this.#span.traceparent
    // The circuit may have opened, or its one call may have begun, while the credential was made.
    if (reading instanceof Promise) this.#throwIfOut()
    const leave = breaker.isQuiet ? undefined : breaker.begin(circuitHolderOf(this.#caller))
    const answer = this.#answer = new UpstreamAnswer({
      isHead: method === 'HEAD', maxBytes, toReaderError: (error) => this.#toHandlerError(error)
    })
    try {
      await answer.begin((handler) => {
        const send = () => this.#upstream.dispatch({
          method,
          path: target.path + target.query,
          headers,
          body: body?.bytes ?? null,
          principal: this.principal
        }, handler)
        if (this.#span === undefined) send()
        else this.#span.run(send)
      })
      this.#learnStatus(answer.status)
      return answer
    } catch (error) {
      this.#learn(this.#stopped ?? error)
      throw error
    } finally {
      leave?.()
    }
  }

  /** Waits for the credential without a place among the calls that ask. */
  async #waitFor (credential: Promise<CredentialHeaders>): Promise<CredentialHeaders> {
    // A failure after the end of the call has no other handler.
    credential.catch(() => {})
    this.#upstream.beginWaiting(this)
    const headers = await unlessAborted(credential, this.signal)
    this.#upstream.endWaiting(this)
    return headers
  }

  #throwIfOut (): void {
    const { breaker } = this.#upstream
    const refusal = breaker.isQuiet ? undefined : breaker.findRefusal(circuitHolderOf(this.#caller))
    if (refusal !== undefined) throw new CallError('unavailable', refusal)
  }

  #learnStatus (status: number): void {
    const { breaker } = this.#upstream
    const isFailure = status >= 500
    if (!isFailure && breaker.isQuiet) return
    const holder = circuitHolderOf(this.#caller)
    if (isFailure) breaker.fail(holder, answerFailure(new Error(`status ${status}`), this.#caller))
    else breaker.succeed(holder)
  }

  #learn (error: unknown): void {
    const { isConnected = false, isPaused = false } = this.#answer ?? {}
    const failure = findFailure(error, this.#caller, { isConnected, isUnread: isPaused })
    if (failure !== undefined) this.#upstream.breaker.fail(circuitHolderOf(this.#caller), failure)
  }

  /** Returns the pause before another attempt, in milliseconds. `undefined` if the answer is the last one. */
  #pauseBeforeRetry (answer: UpstreamAnswer, attempt: number): number | undefined {
    if (!this.#mayRepeat(attempt) || !PASSING.has(answer.status)) return undefined
    const pauseMs = Math.max(readRetryAfter(answer.header('retry-after')) ?? 0, this.#backoff(attempt - 1))
    return pauseMs < Math.min(this.#endsAt - clock.monotonic(), this.#caller.leftMs) ? pauseMs : undefined
  }

  #mayRepeat (attempt: number): boolean {
    return attempt < this.#upstream.attempts && isIdempotent(this.#request.method)
  }

  #backoff (attempt: number): number {
    const { backoffMs } = this.#upstream
    return pauseAfter(attempt, { firstMs: backoffMs, maxMs: Math.max(backoffMs, MAX_PAUSE_MS) })
  }

  #checkType (answer: UpstreamAnswer): void {
    const { accepted, method } = this.#request
    const { status } = answer
    if (accepted === undefined || status < 200 || status > 299 || status === 204 || status === 205) return
    const type = answer.header('content-type')
    if (accepted.has(type ?? '') || (method === 'HEAD' && type === undefined)) return
    const which = type === undefined ? 'no' : 'another'
    throw new CallError('wrong_type', new Error(`the answer has ${which} type`))
  }

  #end (reason: Error | undefined): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#leave()
    timers.clear(this.#timer)
    this.#controller?.abort(reason)
    const failure = reason instanceof CredentialError ? credentialFailed(reason) : reason
    // Earlier failures are known.
    if (this.#isAnswered) this.#learn(failure)
    const outcome = this.#toOutcome(failure)
    const isAnswer = outcome === 'ok' || outcome === 'server_error'
    this.#span?.end(isAnswer ? { status: this.#status ?? 0 } : { error: outcome })
    this.#upstream.end(this, {
      method: this.#request.method,
      path: this.#request.target.path,
      status: this.#status,
      outcome,
      ms: clock.monotonic() - this.#startedAt,
      cause: failure instanceof CallError ? failure.cause : undefined
    }, this.#caller)
    // The signal is the handler's: nothing is left to do if it fails.
    this.#request.signal?.removeEventListener('abort', this.#onAbort)
  }

  #toOutcome (failure: Error | undefined): CallOutcome {
    if (failure instanceof CallError) return failure.isOfCaller ? 'caller' : failure.code
    if (this.#stopped !== undefined) return 'cancelled'
    if (this.#status === undefined || failure instanceof TypeError) return 'invalid'
    return this.#status >= 500 ? 'server_error' : 'ok'
  }

  #toHandlerError (error: Error): Error {
    const failure = error instanceof CredentialError ? credentialFailed(error) : error
    return failure instanceof CallError
      ? toUpstreamError(failure, this.#upstream.name, this.#request.timeoutMs)
      : failure
  }
}
