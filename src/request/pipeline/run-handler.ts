// Runs handlers of the catalog within the lifetime of their request, with or without questions to the client.

import { ownerOf } from '../../platform/access/principal.ts'
import type { JsonText } from '../../catalog/compiled/results/large-json.ts'
import { Type, type ObjectOf } from '../../platform/schema/type.ts'
import type { InputRound, RoundRequest } from '../questions/input-round.ts'
import type { RequestContext } from './request-context.ts'

/** The params that a retry has in addition to the params of the first round. */
export const retryParams = {
  inputResponses: Type.Optional(Type.Record(Type.Unknown())),
  requestState: Type.Optional(Type.String())
}

type RetryParams = ObjectOf<typeof retryParams>

/** The request that a round belongs to. `args` are the arguments as the client sent them. */
interface RoundSubject { readonly method: string, readonly name: string, readonly args?: unknown }

const NOTHING = {}

/** Opens the round. Its request state can be opened only for the same subject and the same principal. */
export function openRound (
  request: RequestContext, { method, name, args }: RoundSubject,
  { inputResponses, requestState }: RetryParams, sources: Pick<RoundRequest, 'journal' | 'relay'> = NOTHING
): InputRound {
  const { principal, envelope: { clientCapabilities, clientInfo } } = request
  return request.openRound({
    inputResponses,
    requestState,
    journal: sources.journal,
    relay: sources.relay,
    capabilities: clientCapabilities,
    client: clientInfo,
    // A function, because most requests ask for no input and need no owner.
    bind: () => ({ owner: ownerOf(principal), method, name, args })
  })
}

/**
 * Runs the handler and makes the result of its output. When the client must answer something first, the
 * result is an InputRequiredResult, and the output or the error of the handler is ignored.
 * @param isFailure whether the output is no success: what was done is then undone.
 */
export function runRound<T, R extends JsonText | Buffer = string> (
  request: RequestContext,
  round: InputRound,
  timeoutMs: number,
  run: () => T | Promise<T>,
  toResult: (output: T) => R | Promise<R>,
  isFailure?: (output: T) => boolean
): string | R | Promise<string | R> {
  const finish = (output: T, limitMs?: number) => settle(request, round, {
    hasFailed: isFailure?.(output) === true,
    toResult () {
      round.finish?.()
      return toResult(output)
    },
    limitMs
  })
  const fail = (error: unknown, limitMs?: number) => settle(request, round, {
    hasFailed: true, toResult: () => { throw error }, limitMs
  })
  let output: T | Promise<T>
  try {
    output = runHandler(request, timeoutMs, run)
  } catch (error) {
    return fail(error, timeoutMs)
  }
  return output instanceof Promise
    ? output.then((value) => finish(value), (error: unknown) => fail(error))
    : finish(output, timeoutMs)
}

interface HandlerEnd<R> {
  readonly hasFailed?: boolean
  toResult (): R | Promise<R>
  /** Limits work of the round that still runs. `undefined` if the time limit has begun. */
  readonly limitMs: number | undefined
}

function settle<R extends JsonText | Buffer> (
  request: RequestContext, round: InputRound, end: HandlerEnd<R>
): string | R | Promise<string | R> {
  const { hasFailed, toResult, limitMs } = end
  const settled = round.settle(hasFailed)
  if (settled !== undefined) {
    request.lifetime.track(settled)
    if (limitMs !== undefined) request.lifetime.limit(limitMs)
    return untilStopped(request, settled).then(() => settle(request, round, { ...end, limitMs: undefined }))
  }
  const { relay } = round
  if (relay !== undefined) return relay()
  // Read once: the getter seals the request state each time.
  const { pending } = round
  if (pending === undefined) return toResult()
  request.observed.special = round.isAsleep === true ? 'sleeping' : 'input_required'
  return request.writer.writeInputRequired(pending)
}

/** Rejects when the request is stopped: work may never settle, such as a callback of `once`. */
export async function untilStopped<T> (
  { lifetime }: Pick<RequestContext, 'lifetime'>, work: Promise<T>
): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    lifetime.onStop(reject)
    work.then(resolve, reject)
  })
}

/**
 * Returns or resolves to the output of the handler. Rejects when the request is stopped, also if the handler
 * ignores its signal and continues.
 */
export function runHandler<T> (
  { lifetime, observed }: Pick<RequestContext, 'lifetime' | 'observed'>, timeoutMs: number,
  run: () => T | Promise<T>
): T | Promise<T> {
  const { trace } = observed
  const output = trace === undefined ? run() : trace.runHandler(observed, run)
  if (!isThenable(output)) return output
  const work = Promise.resolve(output)
  lifetime.track(work)
  return new Promise((resolve, reject) => {
    lifetime.onStop(reject)
    lifetime.limit(timeoutMs)
    work.then(resolve, reject)
  })
}

/** Finds more than `instanceof Promise`: the query builders of some libraries are thenables. */
export function isThenable<T> (value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
