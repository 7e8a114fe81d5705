// Runs a catalog's code that may ask its client something in the middle.

import { Type, type Static } from 'typebox'
import { ownerOf } from '../access/principal.ts'
import type { InputRound } from '../input/input-round.ts'
import type { InputRounds } from '../input/sealed-input-round.ts'
import type { RequestContext } from './request-context.ts'
import { runHandler } from './run-handler.ts'

/** The handler cannot go on before its client has answered. */
export class InputRequired {
  /** The members of the result, as JSON without braces. */
  readonly members: string

  constructor (members: string) {
    this.members = members
  }
}

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

/** What becomes of a handler's output, and of what it throws. */
export interface Endings<T, R> {
  finish (output: T | InputRequired): R | Promise<R>
  /** Also told of what `finish` throws. May throw itself. */
  fail (error: unknown): R
}

/** As `runHandler`, but for what the client must answer first: whatever the handler made of being left counts for nothing then. */
export function runRound<T, R> (request: RequestContext, round: InputRound, timeoutMs: number, run: () => T | Promise<T>, endings: Endings<T, R>): R | Promise<R> {
  let output: T | Promise<T>
  try {
    output = runHandler(request, timeoutMs, run)
  } catch (error) {
    return end(round, () => { throw error }, endings)
  }
  if (output instanceof Promise) return output.then((settled) => end(round, () => settled, endings), (error: unknown) => end(round, () => { throw error }, endings))
  const settled = output
  return end(round, () => settled, endings)
}

/** With what the client must answer, or else with what the handler came to. */
function end<T, R> (round: InputRound, outcome: () => T, endings: Endings<T, R>): R | Promise<R> {
  const settled = round.settle()
  if (settled !== undefined) return settled.then(() => end(round, outcome, endings))
  try {
    // Read once: each reading seals anew.
    const { pending } = round
    const result = endings.finish(pending === undefined ? outcome() : new InputRequired(pending))
    return result instanceof Promise ? result.catch((error: unknown) => endings.fail(error)) : result
  } catch (error) {
    return endings.fail(error)
  }
}
