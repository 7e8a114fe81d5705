// Gets the suggestions from the source that an author gave.

import fuzzysort from 'fuzzysort'
import type { CompletionContext, CompletionSource } from '../../../platform/author/completion.ts'
import { MAX_COMPLETION_VALUES, type Completion } from '../../../platform/protocol/completion.ts'
import { findHandlerProblem } from '../definitions/check-definition.ts'
import { ContractError } from '../results/result-json.ts'

const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

export function isCompletionSource (value: unknown): value is CompletionSource {
  return isStrings(value) || findHandlerProblem(value) === undefined
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

/** A longer text gets no suggestions: the time of matching grows with the text, which a client chooses. */
const MAX_TYPED_LENGTH = 200

/** Lower than the library's default: a few letters of a word, in their order, then match it. */
const THRESHOLD = 0.3

/** Ranking takes some 10 µs for each candidate. Of a longer list only the most promising are ranked. */
const MAX_RANKED = 1000

/** Returns the matches, best first, equal ones in their order. For an empty text: all candidates. */
export function rankCompletions (candidates: readonly string[], typed: string): Completion {
  if (typed.length > MAX_TYPED_LENGTH) return { values: [], total: 0, hasMore: false }
  if (typed.trim() === '') return clipCompletion({ values: [...candidates], total: candidates.length })
  const promising = candidates.length <= MAX_RANKED ? candidates : findPromising(candidates, typed)
  const values = promising.slice(0, MAX_RANKED).flatMap((candidate) => {
    // The library keeps every plain string that it sees in a cache. It does not keep prepared strings.
    const score = fuzzysort.single(typed, fuzzysort.prepare(candidate))?.score ?? 0
    return score < THRESHOLD ? [] : [{ candidate, score }]
  }).sort((a, b) => b.score - a.score).map(({ candidate }) => candidate)
  // With more candidates than are ranked the number of matches is not known.
  return promising.length <= MAX_RANKED
    ? clipCompletion({ values, total: values.length })
    : clipCompletion({ values, hasMore: true })
}

/** Finds the candidates that may match: first those that begin with the text, then those that contain it. */
function findPromising (candidates: readonly string[], typed: string): string[] {
  const text = typed.trim().toLowerCase()
  const words = text.split(/\s+/)
  const beginning: string[] = []
  const containing: string[] = []
  const possible: string[] = []
  for (const candidate of candidates) {
    const lower = candidate.toLowerCase()
    const at = lower.indexOf(text)
    if (at === 0) beginning.push(candidate)
    else if (at > 0) containing.push(candidate)
    else if (possible.length <= MAX_RANKED && mayMatch(lower, words)) possible.push(candidate)
  }
  return [...beginning, ...containing, ...possible]
}

/** Whether the library may match. It also matches letters with accents by the letter alone. */
function mayMatch (lower: string, words: readonly string[]): boolean {
  return words.every((word) => hasInOrder(lower, word)) || /[^\0-\x7f]/.test(lower)
}

function hasInOrder (text: string, characters: string): boolean {
  let at = -1
  for (let index = 0; index < characters.length; index++) {
    at = text.indexOf(characters.charAt(index), at + 1)
    if (at === -1) return false
  }
  return true
}

/** Cuts the values at the limit of one result. `hasMore` is then set. */
export function clipCompletion ({ values, total, hasMore = false }: Completion): Completion {
  const clipped = values.slice(0, MAX_COMPLETION_VALUES)
  return {
    values: clipped,
    ...(total === undefined ? {} : { total }),
    hasMore: hasMore || clipped.length < values.length
  }
}
