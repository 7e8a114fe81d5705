// Gets the suggestions from the source that an author gave.

import type { CompletionContext, CompletionSource } from '../../../author/completion.ts'
import type { Completion } from '../../../protocol/completion.ts'
import { findHandlerProblems } from '../definitions/handler-problems.ts'
import { ContractError } from '../results/result-json.ts'
import { clipCompletion, rankCompletions } from './completion-ranking.ts'

const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

export function isCompletionSource (value: unknown): value is CompletionSource {
  return isStrings(value) || findHandlerProblems({ value }).length === 0
}

/**
 * Ranks a list. A function that returns `{ values }` has ranked them itself: that result is only cut at the
 * limit. Throws a ContractError for any other output of a function.
 */
export async function complete (
  source: CompletionSource, typed: string, context: CompletionContext
): Promise<Completion> {
  if (typeof source !== 'function') return rankCompletions(source, typed)
  const output = await source(typed, context)
  if (isStrings(output)) return rankCompletions(output, typed)
  if (typeof output === 'object' && output !== null && 'values' in output && isStrings(output.values)) {
    return clipCompletion(output)
  }
  throw new ContractError('complete', ['must return a list of strings or { values, total?, hasMore? }'])
}
