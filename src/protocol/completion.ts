// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion

/** The most values that one answer may carry. */
export const MAX_COMPLETION_VALUES = 100

export interface Completion {
  values: string[]
  total?: number
  hasMore?: boolean
}
