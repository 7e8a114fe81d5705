// Runs a catalog's code that may ask its client something in the middle.

import { Type, type Static } from 'typebox'
import { ownerOf } from '../access/principal.ts'
import type { InputRound } from '../input/input-round.ts'
import type { InputRounds } from '../input/sealed-input-round.ts'
import type { RequestContext } from './request-context.ts'
import { runHandler } from './run-handler.ts'

/** What a retry brings with it, beside the params of the first round. */
export const retryParams = {
  inputResponses: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  requestState: Type.Optional(Type.String())
}

type RetryParams = Static<ReturnType<typeof Type.Object<typeof retryParams>>>

/** @param named the method, and what it is about: a round belongs to them. */
export function openRound (
  inputRounds: InputRounds, request: RequestContext, named: { readonly method: string, readonly name: string, readonly args?: unknown }, retry: RetryParams
): InputRound {
  const { principal, envelope } = request
  return (request.inputRounds ?? inputRounds).open({
    inputResponses: retry.inputResponses,
    requestState: retry.requestState,
    capabilities: envelope.clientCapabilities,
    // Few requests ask anything, and the others need no name.
    bind: () => ({ owner: ownerOf(principal), method: named.method, name: named.name, args: named.args })
  })
}

/** What becomes of a handler's output, and of what it throws: the result as JSON. */
export interface Endings<T> {
  finish (output: T): string | Promise<string>
  /** Also told of what `finish` throws. May throw itself. */
  fail (error: unknown): string
}

/** As `runHandler`, but for what the client must answer first: whatever the handler made of being left counts for nothing then. */
export function runRound<T> (request: RequestContext, round: InputRound, timeoutMs: number, run: () => T | Promise<T>, endings: Endings<T>): string | Promise<string> {
  const finish = (output: T) => end(request, round, () => output, endings)
  const fail = (error: unknown) => end(request, round, () => { throw error }, endings)
  let output: T | Promise<T>
  try {
    output = runHandler(request, timeoutMs, run)
  } catch (error) {
    return fail(error)
  }
  return output instanceof Promise ? output.then(finish, fail) : finish(output)
}

/** With what the client must answer, or else with what the handler came to. */
function end<T> (request: RequestContext, round: InputRound, outcome: () => T, endings: Endings<T>): string | Promise<string> {
  const settled = round.settle()
  if (settled !== undefined) return settled.then(() => end(request, round, outcome, endings))
  try {
    // Read once: each reading seals anew.
    const { pending } = round
    if (pending !== undefined) return request.snapshot.writer.writeInputRequired(pending)
    const result = endings.finish(outcome())
    return result instanceof Promise ? result.catch((error: unknown) => endings.fail(error)) : result
  } catch (error) {
    return endings.fail(error)
  }
}
