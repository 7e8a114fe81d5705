// Ranks the candidates that match a typed text, the best match first.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion

import fuzzysort from 'fuzzysort'
import { MAX_COMPLETION_VALUES, type Completion } from '../protocol/completion.ts'

/** A longer text gets no suggestions: the time of matching grows with the text, which a client chooses. */
const MAX_TYPED_LENGTH = 200

/** Lower than the library's default: a few letters of a word, in their order, then match it. */
const THRESHOLD = 0.3

/** The matches, best first. For an empty text: all candidates in the given order. */
export function rankCompletions (candidates: readonly string[], typed: string): Completion {
  if (typed.length > MAX_TYPED_LENGTH) return { values: [], total: 0, hasMore: false }
  if (typed.trim() === '') return clipCompletion({ values: [...candidates], total: candidates.length })
  // The library keeps every plain string that it sees in a cache. It does not keep prepared strings.
  const prepared = candidates.map((candidate) => fuzzysort.prepare(candidate))
  const matches = fuzzysort.go(typed, prepared, { limit: MAX_COMPLETION_VALUES, threshold: THRESHOLD })
  const values = matches.map(({ target }) => target)
  return { values, total: matches.total, hasMore: matches.total > values.length }
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
