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
    binding: {
      // Few requests ask anything, and the others need not be named.
      get owner () { return ownerOf(principal) },
      method: named.method,
      name: named.name,
      args: named.args
    }
  })
}

/** As `runHandler`, but for what the client must answer first: whatever the handler made of being left counts for nothing then. */
export function runRound<T> (request: RequestContext, round: InputRound, timeoutMs: number, run: () => T | Promise<T>): T | InputRequired | Promise<T | InputRequired> {
  const output = runHandler(request, timeoutMs, run)
  if (!(output instanceof Promise)) return afterRound(round, () => output)
  return output.then((settled) => afterRound(round, () => settled), (error: unknown) => afterRound(round, () => { throw error }))
}

/** What the client must answer, or else what the handler came to. */
function afterRound<T> (round: InputRound, outcome: () => T): T | InputRequired | Promise<T | InputRequired> {
  const settled = round.settle()
  if (settled !== undefined) return settled.then(() => afterRound(round, outcome))
  // Read once: each reading seals anew.
  const { pending } = round
  return pending === undefined ? outcome() : new InputRequired(pending)
}
