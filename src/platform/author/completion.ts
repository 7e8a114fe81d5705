// Completion: suggestions for the arguments of prompts and the variables of resource templates.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion

import type { Principal } from '../access/principal.ts'
import type { Completion } from '../protocol/completion.ts'
import type { Context } from './context.ts'

/** What a completion function may use besides the typed text. */
export interface CompletionContext extends Pick<Context, 'settings' | 'use' | 'fetch'> {
  /** The values of the other arguments that the user has filled in. */
  readonly arguments: { readonly [name: string]: string | undefined }
  /** The caller that the request acts for. */
  readonly principal: Principal
  /** Aborts when the client is gone, the timeout has passed or the service is shutting down. */
  readonly signal: AbortSignal
}

/**
 * The suggestions for one argument: a list of all values, or a function that returns the values for a typed
 * text.
 *
 * The service matches a list against the typed text (fuzzily) and ranks the matches, also where a function
 * returned the list. A function that ranks its values itself returns `{ values, total?, hasMore? }`, which
 * the service sends unchanged. One answer carries at most 100 values; the rest is cut off and `hasMore` is
 * set.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion#completion-results
 */
export type CompletionSource = readonly string[] | CompletionFunction

/**
 * Returns the suggestions for a typed text, which may be empty. Anything that it throws is an internal error.
 *
 * @example complete: async (typed, { signal }) => await catalog.titlesLike(typed, { signal })
 */
export type CompletionFunction = (typed: string, context: CompletionContext) =>
  readonly string[] | Completion | Promise<readonly string[] | Completion>
