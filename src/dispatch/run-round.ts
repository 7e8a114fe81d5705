// Runs a catalog's code that may ask its client something in the middle.

import { Type, type Static } from 'typebox'
import { ownerOf } from '../access/principal.ts'
import type { InputRound } from '../input/input-round.ts'
import type { RequestContext } from './request-context.ts'
import { runHandler } from './run-handler.ts'

/** What a retry brings with it, beside the params of the first round. */
export const retryParams = {
  inputResponses: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  requestState: Type.Optional(Type.String())
}

type RetryParams = Static<ReturnType<typeof Type.Object<typeof retryParams>>>

/** What a round is opened with. `args` as they came. */
export interface RoundSubject { readonly method: string, readonly name: string, readonly args?: unknown }

/** @param subject the round belongs to it: its request state opens for nothing else. */
export function openRound (
  request: RequestContext, { method, name, args }: RoundSubject, { inputResponses, requestState }: RetryParams
): InputRound {
  const { principal, envelope: { clientCapabilities } } = request
  return request.openRound({
    inputResponses,
    requestState,
    capabilities: clientCapabilities,
    // Few requests ask anything, and the others need no name.
    bind: () => ({ owner: ownerOf(principal), method, name, args })
  })
}

/**
 * Runs the handler, then makes a result of its output. Where the client must answer something first, the
 * result says that, and what the handler returned or threw when it was left counts for nothing.
 */
export function runRound<T> (
  request: RequestContext, round: InputRound, timeoutMs: number, run: () =>
    T | Promise<T>, toResult: (output: T) => string | Promise<string>
): string | Promise<string> {
  const finish = (output: T) => settle(request, round, () => toResult(output))
  const fail = (error: unknown) => settle(request, round, () => { throw error })
  let output: T | Promise<T>
  try {
    output = runHandler(request.lifetime, timeoutMs, run)
  } catch (error) {
    return fail(error)
  }
  return output instanceof Promise ? output.then(finish, fail) : finish(output)
}

function settle (
  request: RequestContext, round: InputRound, toResult: () => string | Promise<string>
): string | Promise<string> {
  const settled = round.settle()
  if (settled !== undefined) return settled.then(() => settle(request, round, toResult))
  // Read once: each reading seals anew.
  const { pending } = round
  return pending === undefined ? toResult() : request.snapshot.writer.writeInputRequired(pending)
}
