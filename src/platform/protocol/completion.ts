// The result of `completion/complete`.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion#completion-results

/** The specification's limit of values in one result. */
export const MAX_COMPLETION_VALUES = 100

export interface Completion {
  values: string[]
  /** How many values match in all. */
  total?: number
  /** Whether more values match than the result holds. */
  hasMore?: boolean
}
