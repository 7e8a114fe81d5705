// Serves a request, for every era and every transport: finds its method, checks what the method declares,
// runs it, and answers. No other file decides this order.

import { clock } from '../../base/time.ts'
import { findMissingCapabilities } from '../../protocol/capabilities.ts'
import { InsufficientScope, methodNotFound } from '../../protocol/errors.ts'
import { checkMirroredField } from '../../protocol/header-values.ts'
import type { Params, Request } from '../../protocol/json-rpc.ts'
import type { Caller, Outlet } from './caller.ts'
import { ClientGone, RequestCancelled, type Lifetime } from './lifetime.ts'
import type { Lifetimes } from './lifetimes.ts'
import type { Limiter } from './limiter.ts'
import type { Call, Continuation, Method, Outcome, StreamOpening } from './method.ts'
import type { Ending, Observer } from './observer.ts'
import { RequestContext, type EraSupport, type ObservedRequest } from './request-context.ts'
import type { RequestTracer } from './request-tracer.ts'
import { toProtocolError } from './to-protocol-error.ts'

export interface PipelineDependencies {
  readonly support: EraSupport
  /** Methods of other eras are ignored. */
  readonly methods: readonly Method[]
  readonly lifetimes: Lifetimes
  readonly observer: Required<Observer>
  readonly limiter: Limiter
  /** Absent if the service is not traced. */
  readonly tracer?: Pick<RequestTracer, 'begin'> | undefined
}

export interface Pipeline {
  /** Whether the era has the method. */
  has (method: string): boolean
  /** Answers the request through its outlet, now or later. Never throws. */
  serve (message: Request, caller: Caller, outlet: Outlet): void
}

export function createPipeline (dependencies: PipelineDependencies): Pipeline {
  const { support, methods, lifetimes, observer, limiter, tracer } = dependencies
  const byName = new Map(
    methods.filter(({ eras }) => eras.includes(support.era)).map((method) => [method.name, method])
  )

  /**
   * Throws for the first check that fails. The order of the checks is part of the contract: a request with
   * several problems always gets the same error.
   */
  function open ({ method: name, params = {} }: Request, request: RequestContext): Call {
    const method = byName.get(name)
    if (method === undefined) throw methodNotFound(name)
    request.observed.method = name
    checkMirroredName(method, params, request.caller)
    const call = method.open(params, request)
    request.observed.subject = call.subject
    request.observed.given = call.given
    return call
  }

  function check (call: Call, request: RequestContext): void | Promise<void> {
    const { requiredCapabilities, mirroredParams } = call
    const { caller, caller: { envelope } } = request
    const missing = requiredCapabilities === undefined
      ? undefined
      : findMissingCapabilities(requiredCapabilities, envelope.clientCapabilities)
    if (missing !== undefined) throw support.toMissingCapability(missing)
    if (caller.mirror !== undefined) {
      for (const field of mirroredParams) checkMirroredField(field, caller.mirror(field.header))
    }
    return limiter.admit(call, request)
  }

  function run (call: Call, request: RequestContext): void {
    lifetimes.watch(request.lifetime, request.outlet)
    const outcome = call.handle()
    if (outcome instanceof Promise) {
      outcome.then(
        (settled) => succeed(settled, call, request), (error: unknown) => fail(error, request, call)
      )
    } else succeed(outcome, call, request)
  }

  function succeed (outcome: Outcome, call: Call, request: RequestContext): void {
    try {
      if (isResult(outcome)) limiter.admitResult?.(call, outcome, request)
    } catch (error) {
      return fail(error, request, call)
    }
    finish(outcome, call, request)
  }

  function finish (outcome: Outcome, call: Call, request: RequestContext): void {
    const { lifetime, observed, outlet } = request
    if (!isResult(outcome)) {
      if (!('open' in outcome)) return answerAndContinue(outcome, call, request)
      // The messages of a stream are the service's own: it must not keep the dependencies of an old catalog.
      request.releaseDependencies()
      return finishStream(outcome, lifetime, observed, outlet)
    }
    request.end()
    outlet.succeed(outcome)
    reportEnd(observed, outlet, SUCCESS)
  }

  /** The lifetime goes on, and so does the trace. Observers see the answer, and later the end of the work. */
  function answerAndContinue (
    { answer, work, outlet }: Continuation, call: Call, request: RequestContext
  ): void {
    request.outlet.succeed(answer)
    observer.end(request.observed, toEnding(request.observed, request.outlet, SUCCESS))
    request.continueTo(outlet)
    observer.begin(request.observed, request.caller)
    work.then((result) => succeed(result, call, request), (error: unknown) => fail(error, request, call))
  }

  /** The request lives as long as its stream. Only these three members of its context stay in memory. */
  function finishStream (
    { open }: StreamOpening, lifetime: Lifetime, observed: ObservedRequest, outlet: Outlet
  ): void {
    const sink = outlet.openStream()
    lifetimes.markStream(lifetime)
    sink.onClose((isComplete) => {
      lifetime.end()
      reportEnd(observed, outlet, isComplete ? SUCCESS : { ...SUCCESS, isCancelled: true })
    })
    open(sink)
  }

  function fail (error: unknown, request: RequestContext, call?: Call): void {
    if (call === undefined) return answerError(error, request)
    let result: string
    try {
      result = call.recover(error)
    } catch (cause) {
      return answerError(cause, request)
    }
    finish(result, call, request)
  }

  function answerError (error: unknown, request: RequestContext): void {
    const { observed, outlet } = request
    request.end()
    if (error instanceof RequestCancelled) {
      outlet.leaveUnanswered()
      return reportEnd(observed, outlet, { protocolError: undefined, error, isCancelled: true })
    }
    const protocolError = toProtocolError(error, observed.requestId)
    if (protocolError instanceof InsufficientScope) observed.subject ??= protocolError.subject
    outlet.fail(protocolError)
    reportEnd(observed, outlet, { protocolError, error, isCancelled: error instanceof ClientGone })
  }

  function reportEnd (observed: ObservedRequest, outlet: Outlet, facts: EndFacts): void {
    const ending = toEnding(observed, outlet, facts)
    observed.trace?.end(observed, ending)
    observer.end(observed, ending)
  }

  return {
    has: (method) => byName.has(method),
    serve (message, caller, outlet) {
      const request = new RequestContext(message, caller, outlet, support)
      request.observed.trace = tracer?.begin(message, byName.get(message.method)?.name, caller)
      observer.begin(request.observed, caller)
      let call: Call | undefined
      try {
        const opened = call = open(message, request)
        const checked = check(opened, request)
        if (checked === undefined) run(opened, request)
        else checked.then(() => run(opened, request)).catch((error: unknown) => fail(error, request, opened))
      } catch (error) {
        fail(error, request, call)
      }
    }
  }
}

function isResult (outcome: Outcome): outcome is string | Buffer {
  return typeof outcome === 'string' || Buffer.isBuffer(outcome)
}

type EndFacts = Pick<Ending, 'protocolError' | 'error' | 'isCancelled'>

function toEnding ({ startedAt }: ObservedRequest, { status }: Outlet, facts: EndFacts): Ending {
  return { durationMs: clock.monotonic() - startedAt, status, ...facts }
}

const SUCCESS = { protocolError: undefined, error: undefined, isCancelled: false }

function checkMirroredName ({ mirroredName }: Method, params: Params, caller: Caller): void {
  if (mirroredName === undefined || caller.mirror === undefined) return
  const value = params[mirroredName]
  // The check of the params refuses a value that is not a string.
  if (typeof value === 'string') checkMirroredField({ header: 'Mcp-Name', value }, caller.mirror('Mcp-Name'))
}
