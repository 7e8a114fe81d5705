import type { ContentBlock, Meta } from '../protocol/content.ts'

const TOOL_RESULT = Symbol.for('trivet.tool-result')

export interface ToolResultOptions {
  /** What the model reads. Where there is structured content and none of this, its JSON text. */
  content?: ContentBlock[]
  /** Any JSON value. Checked against the tool's `outputSchema`, unless `isError`. */
  structuredContent?: unknown
  /** Whether the call failed in a way that the model should know of. `false` by default. */
  isError?: boolean
  _meta?: Meta
}

export type ToolResult = ToolResultOptions & { readonly [TOOL_RESULT]: true }

/**
 * Says every part of a tool's result by hand, where what `run` returns would not say it.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 *
 * @example return toolResult({ content: [{ type: 'image', data, mimeType: 'image/png' }], structuredContent: { width, height } })
 */
export function toolResult (options: ToolResultOptions): ToolResult {
  return { ...options, [TOOL_RESULT]: true }
}

export function isToolResult (value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && TOOL_RESULT in value
}
