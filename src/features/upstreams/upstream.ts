// An open upstream: its connections, its limits, and what is known of its health.

import type { UpstreamError } from '../../platform/author/upstream-error.ts'
import type { UpstreamInit } from '../../platform/author/upstream-fetch.ts'
import { CircuitBreaker } from '../../base/circuit-breaker.ts'
import { clock } from '../../base/time.ts'
import { clip } from '../../base/words.ts'
import type { CompiledUpstream } from './definition/compile-upstream.ts'
import type {
  ActsAs, OpenUpstream, UpstreamCaller, UpstreamLog
} from '../../catalog/compiled/upstreams/open-upstream.ts'
import { FAILURES, placeHolderOf } from './blame.ts'
import { CallError, toUpstreamError } from './call-error.ts'
import { readCallRequest } from './call-request.ts'
import type {
  AnswerHandler, CallFacts, CallingUpstream, CallOutcome, CallRequest, Transport, WireRequest
} from './calling-upstream.ts'
import type { Credential } from './credentials/credential.ts'
import { Places, type Place } from './places.ts'
import { UpstreamCall } from './upstream-call.ts'

export interface UpstreamDependencies {
  readonly transport: Transport
  readonly credential: Credential
  /** Knows nothing of failures by default. */
  readonly breaker?: CircuitBreaker
  readonly log: UpstreamLog
  /** How many calls may run at once in this process. */
  readonly running: number
  /** Called when a call has ended. */
  readonly onCall: (upstream: string, outcome: CallOutcome, seconds: number) => void
}

const COOLDOWN_MS = 5000

export function createBreaker (): CircuitBreaker {
  return new CircuitBreaker({ failures: FAILURES, cooldownMs: COOLDOWN_MS, now: clock.monotonic })
}

export class Upstream implements OpenUpstream, CallingUpstream {
  readonly #compiled: CompiledUpstream
  readonly #dependencies: UpstreamDependencies
  readonly #places: Places
  readonly #calls = new Map<UpstreamCall, Place>()
  readonly breaker: CircuitBreaker
  /** The refusals that the log has, by request. */
  readonly #told = new WeakMap<UpstreamCaller, Set<CallOutcome>>()
  #isClosed = false

  constructor (compiled: CompiledUpstream, dependencies: UpstreamDependencies) {
    this.#compiled = compiled
    this.#dependencies = dependencies
    this.breaker = dependencies.breaker ?? createBreaker()
    this.#places = new Places(dependencies.running)
  }

  get name (): string { return this.#compiled.name }
  get url (): URL { return this.#compiled.url }
  get actsAs (): ActsAs { return this.#compiled.actsAs }
  get attempts (): number { return this.#compiled.attempts }
  get backoffMs (): number { return this.#compiled.backoffMs }
  get maxBytes (): number { return this.#compiled.answerBytes }
  get credential (): Credential { return this.#dependencies.credential }
  /** How many calls run, with those that wait for a credential. */
  get running (): number { return this.#places.total }

  async fetch (caller: UpstreamCaller, path: string, init: UpstreamInit = {}): Promise<Response> {
    const request = readCallRequest(this.#compiled, path, init)
    return request instanceof Promise
      ? await this.#run(await request, caller)
      : await this.#run(request, caller)
  }

  dispatch (request: WireRequest, handler: AnswerHandler): void {
    this.#dependencies.transport.dispatch(request, handler)
  }

  end (call: UpstreamCall, facts: CallFacts, caller: UpstreamCaller): void {
    this.#calls.get(call)?.free()
    this.#calls.delete(call)
    this.#note(facts, caller)
  }

  beginWaiting (call: UpstreamCall): void { this.#calls.get(call)?.beginWaiting() }

  endWaiting (call: UpstreamCall): void { this.#calls.get(call)?.endWaiting() }

  async close (): Promise<void> {
    this.#isClosed = true
    for (const call of this.#calls.keys()) call.stop(wasClosed())
    await this.credential.close?.()
    await this.#dependencies.transport.close()
  }

  async #run (request: CallRequest, caller: UpstreamCaller): Promise<Response> {
    if (this.#isClosed) throw this.#refuse(wasClosed(), request, caller)
    const place = this.#takePlace(request, caller)
    let call: UpstreamCall
    try {
      call = new UpstreamCall(this, caller, request)
    } catch (error) {
      place.free()
      throw error
    }
    this.#calls.set(call, place)
    return await call.run()
  }

  #takePlace (request: CallRequest, caller: UpstreamCaller): Place {
    try {
      return this.#places.take(placeHolderOf(caller))
    } catch (error) {
      throw error instanceof CallError ? this.#refuse(error, request, caller) : error
    }
  }

  #refuse (reason: CallError, request: CallRequest, caller: UpstreamCaller): UpstreamError {
    const { method, target: { path }, timeoutMs } = request
    this.#note({ method, path, status: undefined, outcome: reason.code, ms: 0, cause: reason.cause }, caller)
    return toUpstreamError(reason, this.name, timeoutMs)
  }

  #note ({ outcome, ms, cause, path, ...facts }: CallFacts, caller: UpstreamCaller): void {
    const { name } = this
    const { log = this.#dependencies.log } = caller
    const hasFailed = outcome !== 'ok' && outcome !== 'server_error'
    caller.note(name, this.actsAs, hasFailed)
    this.#dependencies.onCall(name, outcome, ms / 1000)
    const durationMs = Math.round(ms * 100) / 100
    const fields = { upstream: name, path: clip(path), ...facts, outcome, durationMs }
    if (hasFailed && outcome !== 'cancelled' && outcome !== 'invalid' && this.#warnsOf(outcome, caller)) {
      log.warn({ ...fields, ...(cause !== undefined && { err: cause }) }, 'upstream call failed')
    } else log.debug(fields, 'upstream call')
  }

  /**
   * Returns whether a failure is to be a warning. A handler may make any number of calls that are refused at
   * once: the first one is.
   */
  #warnsOf (outcome: CallOutcome, caller: UpstreamCaller): boolean {
    if (outcome !== 'busy' && outcome !== 'unavailable') return true
    const outcomes = this.#told.get(caller) ?? new Set<CallOutcome>()
    this.#told.set(caller, outcomes)
    const isFirst = !outcomes.has(outcome)
    outcomes.add(outcome)
    return isFirst
  }
}

function wasClosed (): CallError {
  return new CallError('unreachable', new Error('the upstream was closed with its catalog'))
}
