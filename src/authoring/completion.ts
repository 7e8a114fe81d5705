// Suggestions for the arguments of prompts and the variables of resource templates.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion

import type { Principal } from '../access/principal.ts'
import type { Completion } from '../protocol/completion.ts'

export interface CompletionContext {
  /** The other arguments, as far as the user has filled them in. */
  readonly arguments: { readonly [name: string]: string | undefined }
  readonly principal: Principal
  readonly signal: AbortSignal
}

/**
 * Where suggestions come from: a list of all that is possible, or a function of what has been typed.
 *
 * A list, given or returned, is matched against what was typed (fuzzily) and ranked. To match and rank by yourself,
 * return `{ values, total?, hasMore? }`: it is passed on as it is. At most 100 values travel.
 */
export type CompletionSource = readonly string[] | CompletionFunction

export type CompletionFunction = (typed: string, context: CompletionContext) =>
  readonly string[] | Completion | Promise<readonly string[] | Completion>
