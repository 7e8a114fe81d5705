// A tool's result with all of its parts.

import type { ContentBlock, Meta } from '../protocol/content.ts'

const TOOL_RESULT = Symbol.for('trivet.tool-result')

/** What `toolResult` takes. */
export interface ToolResultOptions {
  /** The content blocks for the model. By default the structured content as JSON text. */
  content?: readonly ContentBlock[]
  /** Any JSON value. With an `outputSchema` the service checks it, unless `isError` is true. */
  structuredContent?: unknown
  /** Whether the call failed with an error that the model can act on. `false` by default. */
  isError?: boolean
  _meta?: Meta
}

/** A result made by `toolResult`. */
export type ToolResult = ToolResultOptions & { readonly [TOOL_RESULT]: true }

/**
 * Makes a result with content blocks, structured content, `isError` and `_meta` in any combination. Malformed
 * content is an internal error.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 *
 * @example
 * return toolResult({
 *   content: [{ type: 'image', data, mimeType: 'image/png' }], structuredContent: { width, height }
 * })
 */
export function toolResult (options: ToolResultOptions): ToolResult {
  return { ...options, [TOOL_RESULT]: true }
}

export function isToolResult (value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && TOOL_RESULT in value
}
