// Serves a request, for every era and every transport: finds its method, checks what the method declares,
// runs it, and answers. No other file decides this order.

import { clock } from '../../base/time.ts'
import { LargeJson } from '../../catalog/compiled/results/large-json.ts'
import { isToolError } from '../../platform/author/tool-error.ts'
import { findMissingCapabilities } from '../../platform/protocol/capabilities.ts'
import { answerDropped, InsufficientScope, methodNotFound } from '../../platform/protocol/errors.ts'
import { checkMirroredField } from '../../platform/protocol/header-values.ts'
import type { Params, Request } from '../../platform/protocol/json-rpc.ts'
import type { Caller, Outlet } from './caller.ts'
import { ClientGone, RequestCancelled, type Lifetime } from './lifetime.ts'
import type { Lifetimes } from './lifetimes.ts'
import type { Call, Continuation, Method, Outcome, StreamOpening } from './method.ts'
import type { Ending, Observer } from './observer.ts'
import { RequestContext, type EraSupport, type ObservedRequest } from './request-context.ts'
import type { RequestTracer } from './request-tracer.ts'
import type { Limiter, ResultRoom } from './seams.ts'
import { toProtocolError } from './to-protocol-error.ts'

export interface PipelineDependencies {
  readonly support: EraSupport
  /** Methods of other eras are ignored. */
  readonly methods: readonly Method[]
  readonly lifetimes: Lifetimes
  readonly observer: Required<Observer>
  readonly limiter: Limiter
  /** Absent if large results are not limited. */
  readonly largeResults?: ResultRoom | undefined
  /** Absent if the service is not traced. */
  readonly tracer?: Pick<RequestTracer, 'begin'> | undefined
}

/** Serves the requests of one era. */
export class Pipeline {
  readonly #dependencies: PipelineDependencies
  readonly #methods: ReadonlyMap<string, Method>

  constructor (dependencies: PipelineDependencies) {
    const { support: { era }, methods } = dependencies
    this.#dependencies = dependencies
    this.#methods = new Map(
      methods.filter(({ eras }) => eras.includes(era)).map((method) => [method.name, method])
    )
  }

  /** Whether the era has the method. */
  has (method: string): boolean { return this.#methods.has(method) }

  /** Whether each answer of the method is a stream. */
  mustStream (method: string): boolean { return this.#methods.get(method)?.mustStream === true }

  /** Answers the request through its outlet, now or later. Never throws. */
  serve (message: Request, caller: Caller, outlet: Outlet): void {
    this.#begin(message, caller, outlet, (request) => this.#open(message, request))
  }

  /**
   * Does work that no message asks for, such as one more run of a task, and tells the outlet how it ended.
   * Never throws.
   * @param method the method whose work goes on, for observers.
   */
  work (method: string, caller: Caller, outlet: Outlet, open: (request: RequestContext) => Call): void {
    this.#begin({ id: caller.requestId, method, params: undefined }, caller, outlet, (request) => {
      request.observed.method = method
      const call = open(request)
      request.observed.subject = call.subject
      request.observed.callArguments = call.callArguments
      return call
    })
  }

  #begin (message: Request, caller: Caller, outlet: Outlet, open: (request: RequestContext) => Call): void {
    const { support, tracer, observer } = this.#dependencies
    const request = new RequestContext(message, caller, outlet, support)
    request.observed.trace = tracer?.begin(message, this.#methods.get(message.method)?.name, caller)
    observer.begin(request.observed, caller)
    let call: Call | undefined
    try {
      const current = call = open(request)
      const checked = this.#check(current, request)
      if (checked === undefined) this.#run(current, request)
      else {
        checked.then(() => this.#run(current, request))
          .catch((error: unknown) => this.#fail(error, request, current))
      }
    } catch (error) {
      this.#fail(error, request, call)
    }
  }

  /**
   * Throws for the first check that fails. The order of the checks is part of the contract: a request with
   * several problems always gets the same error.
   */
  #open ({ method: name, params = {} }: Request, request: RequestContext): Call {
    const method = this.#methods.get(name)
    if (method === undefined) throw methodNotFound(name)
    request.observed.method = name
    checkMirroredName(method, params, request.caller)
    const call = method.open(params, request)
    request.observed.subject = call.subject
    request.observed.callArguments = call.callArguments
    return call
  }

  #check (call: Call, request: RequestContext): void | Promise<void> {
    const { support, limiter } = this.#dependencies
    const { requiredCapabilities, mirroredParams } = call
    const { caller, envelope } = request
    const missing = requiredCapabilities === undefined
      ? undefined
      : findMissingCapabilities(requiredCapabilities, envelope.clientCapabilities)
    if (missing !== undefined) throw support.toMissingCapability(missing, caller)
    if (caller.mirror !== undefined && mirroredParams !== undefined) {
      for (const field of mirroredParams) checkMirroredField(field, caller.mirror(field.header))
    }
    return limiter.admit(call, request)
  }

  #run (call: Call, request: RequestContext): void {
    const { lifetimes, largeResults } = this.#dependencies
    lifetimes.watch(request.lifetime, request.outlet)
    const turn = largeResults?.begin(call, request)
    const outcome = turn === undefined
      ? call.handle()
      : turn.finally(lifetimes.leaveOut()).then(() => call.handle())
    if (outcome instanceof Promise) this.#await(outcome, call, request)
    else this.#succeed(outcome, call, request)
  }

  #await (work: Promise<Outcome>, call: Call, request: RequestContext): void {
    work.then(
      (outcome) => this.#succeed(outcome, call, request),
      (error: unknown) => this.#fail(error, request, call)
    )
  }

  #succeed (outcome: Outcome, call: Call, request: RequestContext): void {
    try {
      if (isResult(outcome)) {
        this.#dependencies.limiter.admitResult?.(call, outcome, request)
        const length = Math.max(outcome.length, request.observed.uncutLength)
        this.#dependencies.largeResults?.note(call, length)
      }
    } catch (error) {
      return this.#fail(error, request, call)
    }
    if (outcome instanceof LargeJson) this.#write(outcome, call, request)
    else this.#finish(outcome, call, request)
  }

  #write (result: LargeJson, call: Call, request: RequestContext): void {
    request.lifetime.releaseWork()
    const hasRoom = this.#dependencies.largeResults?.admit(call, request, result.length) ?? true
    if (hasRoom) this.#await(result.write(), call, request)
    else this.#fail(answerDropped(), request)
  }

  #finish (outcome: Exclude<Outcome, LargeJson>, call: Call, request: RequestContext): void {
    const { lifetime, observed, outlet } = request
    if (!isResult(outcome)) {
      if (!('open' in outcome)) return this.#part(outcome, call, request)
      // The messages of a stream are the service's own: it must not keep the dependencies of an old catalog.
      request.releaseDependencies()
      return this.#finishStream(outcome, lifetime, observed, outlet)
    }
    request.end()
    outlet.succeed(outcome)
    this.#reportEnd(observed, outlet, SUCCESS, outcome)
  }

  /** Parts the request from its work. Observers are told of two requests. */
  #part ({ answer, work, outlet }: Continuation, call: Call, request: RequestContext): void {
    // The work has its turn, and the answer waits for none.
    const { subject, ...answerCall } = call
    const waiting = request.handOver(outlet)
    this.#dependencies.observer.begin(request.observed, request.caller)
    this.#await(work, call, request)
    try {
      this.#run({ ...answerCall, handle: () => answer(waiting) }, waiting)
    } catch (error) {
      this.#fail(error, waiting, call)
    }
  }

  /** Ends the request with its stream. Only these members of its context stay in memory. */
  #finishStream (
    { open }: StreamOpening, lifetime: Lifetime, observed: ObservedRequest, outlet: Outlet
  ): void {
    const sink = outlet.openStream()
    this.#dependencies.lifetimes.markStream(lifetime)
    sink.onClose((isComplete) => {
      lifetime.end()
      this.#reportEnd(observed, outlet, isComplete ? SUCCESS : { ...SUCCESS, isCancelled: true })
    })
    open(sink)
  }

  #fail (error: unknown, request: RequestContext, call?: Call): void {
    if (call?.recover === undefined) return this.#answerError(error, request)
    let result: string | Promise<string>
    try {
      result = call.recover(error, request)
    } catch (cause) {
      return this.#answerError(cause, request)
    }
    if (result instanceof Promise) this.#await(result, call, request)
    // Only the text of an author may be large.
    else if (isToolError(error)) this.#succeed(result, call, request)
    else this.#finish(result, call, request)
  }

  #answerError (error: unknown, request: RequestContext): void {
    const { observed, outlet } = request
    request.end()
    if (error instanceof RequestCancelled) {
      outlet.leaveUnanswered()
      return this.#reportEnd(observed, outlet, { protocolError: undefined, error, isCancelled: true })
    }
    const protocolError = toProtocolError(error, observed.requestId)
    if (protocolError instanceof InsufficientScope) {
      observed.subject ??= protocolError.subject
      observed.neededScopes = protocolError.requiredScopes
    }
    outlet.fail(protocolError)
    this.#reportEnd(observed, outlet, { protocolError, error, isCancelled: error instanceof ClientGone })
  }

  #reportEnd (observed: ObservedRequest, outlet: Outlet, facts: EndFacts, result?: string | Buffer): void {
    const ending = toEnding(observed, outlet, facts, result)
    if (observed.endsTrace) observed.trace?.end(observed, ending)
    this.#dependencies.observer.end(observed, ending)
  }
}

function isResult (outcome: Outcome): outcome is string | Buffer {
  return typeof outcome === 'string' || Buffer.isBuffer(outcome)
}

type EndFacts = Pick<Ending, 'protocolError' | 'error' | 'isCancelled'>

function toEnding (
  { startedAt }: ObservedRequest, { status }: Outlet, facts: EndFacts, result: Ending['result']
): Ending {
  return { durationMs: clock.monotonic() - startedAt, status, ...facts, result }
}

const SUCCESS = { protocolError: undefined, error: undefined, isCancelled: false }

function checkMirroredName ({ mirroredName }: Method, params: Params, caller: Caller): void {
  if (mirroredName === undefined || caller.mirror === undefined) return
  const value = params[mirroredName]
  // The check of the params refuses a value that is not a string.
  if (typeof value === 'string') checkMirroredField({ header: 'Mcp-Name', value }, caller.mirror('Mcp-Name'))
}
