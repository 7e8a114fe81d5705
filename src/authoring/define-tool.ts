import type { ClientCapabilities } from '../protocol/capabilities.ts'
import type { ContentBlock, Meta } from '../protocol/content.ts'
import type { ToolAnnotations } from '../protocol/primitives.ts'
import type { Context } from './context.ts'
import { define, type CommonOptions, type Definition } from './definition.ts'
import type { ArgumentsOf, Schema, StructuredContentOf } from './schema.ts'
import type { ToolResult } from './tool-result.ts'

/** A tool's result as the specification writes it. */
export interface CallToolResult { content: ContentBlock[], structuredContent?: unknown, isError?: boolean, _meta?: Meta }

/** What `run` may return: with an output schema, the structured content itself; without one, whatever there is to say. */
export type ToolOutput<O> = [O] extends [undefined] ? unknown : StructuredContentOf<O> | ToolResult

export interface ToolOptions<I, O> extends CommonOptions {
  /**
   * What the arguments must be: an object schema. No arguments where it is absent.
   * A property may carry `x-mcp-header: 'Name'`: clients then mirror it in the header `Mcp-Param-Name`, for routing.
   */
  inputSchema?: I
  /** What `run` returns. A value that does not match is an internal error: the client never sees it. */
  outputSchema?: O
  /** Hints for the client: `readOnlyHint`, `destructiveHint`, `idempotentHint`, `openWorldHint`. */
  annotations?: ToolAnnotations
  /** What the client must be capable of, as the specification writes it: `{ sampling: {} }`. A client that is not gets -32021. */
  requiredCapabilities?: ClientCapabilities
  /** How long a call may take, in milliseconds, before it ends in a tool error. The service's request timeout by default. */
  timeoutMs?: number
  /**
   * Does the work. The arguments have been checked.
   *
   * With an `outputSchema` it returns the structured content. Without one: a string is a text block, an object with a
   * `content` array is a result as the specification has it, anything else is structured content. Structured content
   * always travels with its JSON text. `toolResult({…})` says everything by hand.
   *
   * A thrown ToolError is told to the model; any other exception is an internal error.
   */
  run (args: ArgumentsOf<I>, ctx: Context): ToolOutput<O> | Promise<ToolOutput<O>>
}

/** A tool whose types have done their work. */
export type ToolDefinition = Definition & CommonOptions & {
  readonly inputSchema?: object
  readonly outputSchema?: object
  readonly annotations?: ToolAnnotations
  readonly requiredCapabilities?: ClientCapabilities
  readonly timeoutMs?: number
  run (args: unknown, ctx: Context): unknown
}

/**
 * Defines a tool: something that a model can have done.
 * The arguments of `run` are typed from `inputSchema`, what it returns from `outputSchema`.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 *
 * @example
 * export default defineTool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
 *   run: ({ a, b }) => `${a + b}`
 * })
 */
export function defineTool<const I extends Schema | undefined = undefined, const O extends Schema | undefined = undefined> (
  options: ToolOptions<I, O>
): ToolDefinition {
  // The schema has made sure of the arguments' type by the time that `run` is called.
  return define('tool', options) as unknown as ToolDefinition
}
