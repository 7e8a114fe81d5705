// Which of many candidates fit what has been typed, the best first.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion

import fuzzysort from 'fuzzysort'
import { MAX_COMPLETION_VALUES, type Completion } from '../protocol/completion.ts'

/** Nobody types more than this before asking for suggestions; matching costs time in it. */
const MAX_TYPED_LENGTH = 200

/** Below the library's own: a few letters in their order are enough to find a word. */
const THRESHOLD = 0.3

/** Everything where nothing has been typed, in the given order; otherwise what matches, closest first. */
export function rankCompletions (candidates: readonly string[], typed: string): Completion {
  if (typed.length > MAX_TYPED_LENGTH) return { values: [], total: 0, hasMore: false }
  if (typed.trim() === '') return clipCompletion({ values: [...candidates], total: candidates.length })
  // Prepared here, because the library keeps every plain string that it has seen.
  const matches = fuzzysort.go(typed, candidates.map((candidate) => fuzzysort.prepare(candidate)), {
    limit: MAX_COMPLETION_VALUES, threshold: THRESHOLD
  })
  return {
    values: matches.map(({ target }) => target), total: matches.total, hasMore: matches.total > matches.length
  }
}

/** At most as many values as one answer may carry, saying that there are more. */
export function clipCompletion ({ values, total, hasMore = false }: Completion): Completion {
  const clipped = values.slice(0, MAX_COMPLETION_VALUES)
  return {
    values: clipped,
    ...(total === undefined ? {} : { total }),
    hasMore: hasMore || clipped.length < values.length
  }
}
