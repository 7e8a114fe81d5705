import type { ContentBlock } from '../protocol/content.ts'

const TOOL_ERROR = Symbol.for('trivet.tool-error')

export interface ToolErrorOptions extends ErrorOptions {
  /** Further content blocks after the message. */
  content?: ContentBlock[]
}

/**
 * A failure that the model is told of and can act on: the call's result has `isError: true` and the message as its text.
 * Any other exception is an internal error, of which the client learns nothing.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
 *
 * @example throw new ToolError(`No book ${id}. Use search_books to find one.`)
 */
export class ToolError extends Error {
  readonly content: readonly ContentBlock[]
  readonly [TOOL_ERROR] = true

  /** @param message written for the model: what is wrong, and what to do instead. */
  constructor (message: string, { content = [], ...options }: ToolErrorOptions = {}) {
    super(message, options)
    this.name = 'ToolError'
    this.content = content
  }
}

export function isToolError (error: unknown): error is ToolError {
  return error instanceof Error && TOOL_ERROR in error
}
