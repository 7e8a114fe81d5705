// The error that a tool throws for the model.

import type { ContentBlock } from '../protocol/content.ts'

const TOOL_ERROR = Symbol.for('trivet.tool-error')

/** `cause` goes to the log only. */
export interface ToolErrorOptions extends ErrorOptions {
  /** Content blocks after the message. None by default. */
  content?: readonly ContentBlock[]
}

/**
 * An error that the model can act on. The result of the call has `isError: true` and the message as its text.
 * Any other error is an internal error: the client receives neither its message nor its cause.
 *
 * In a prompt or a resource the client receives the message as a JSON-RPC error.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
 *
 * @example throw new ToolError(`No book ${id}. Use search_books to find one.`)
 */
export class ToolError extends Error {
  readonly content: readonly ContentBlock[]
  readonly [TOOL_ERROR] = true

  /** @param message for the model: what is wrong, and what to do instead. */
  constructor (message: string, { content = [], ...options }: ToolErrorOptions = {}) {
    super(message, options)
    this.name = 'ToolError'
    this.content = content
  }
}

// Checks the symbol and not `instanceof`: a catalog may have its own copy of this package.
export function isToolError (error: unknown): error is ToolError {
  return error instanceof Error && TOOL_ERROR in error
}
