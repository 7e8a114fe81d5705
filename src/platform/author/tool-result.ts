// The result of a tool: the type of what `run` returns, and a result with all of its parts.

import type { ContentBlock, Meta } from '../protocol/content.ts'
import type { StructuredContentOf } from './schema.ts'

const TOOL_RESULT = Symbol.for('trivet.tool-result')

/** What `toolResult` takes. */
export interface ToolResultOptions {
  /** The content blocks for the model. By default the structured content as JSON text. */
  content?: readonly ContentBlock[]
  /**
   * Any JSON value. With an `outputSchema` the service checks it. If it does not match and `isError` is true,
   * it is sent only as text, and the log has a warning: clients would refuse the result.
   */
  structuredContent?: unknown
  /** Whether the call failed with an error that the model can act on. `false` by default. */
  isError?: boolean
  /**
   * `texts` by default: a text block behind each `resource_link` says its name and its URI, because some
   * hosts leave links out. No text is added where a text of the content has the URI. `blocks`: the links
   * alone.
   */
  links?: 'texts' | 'blocks'
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

/**
 * A tool's result as the specification writes it.
 * https://modelcontextprotocol.io/specification/2026-07-28/schema#calltoolresult
 */
export interface CallToolResult {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Meta
}

/**
 * What `run` returns. With an output schema: the structured content, a `toolResult`, or a CallToolResult as
 * handlers of the official SDK return it. An object that has only members of a CallToolResult is one if it
 * has `isError: true`, or a `structuredContent` that matches the schema. Any other object is the structured
 * content, also if it has a `content`. Pictures in that are sent as content blocks, not in a text.
 *
 * Without an output schema, a JSON value:
 * - a string is one text block
 * - an object with an array `content` is a CallToolResult
 * - `undefined` is an empty result
 * - any other value is structured content
 *
 * The service sends structured content as JSON text too, for clients that read only text. A Date is sent in
 * its JSON form. Members that are `undefined` are left out. Any other value without a JSON form is an
 * internal error: a bigint, a function, a symbol, a Map, a Set, an Error, a Response, a stream, NaN, an
 * infinite number, a cycle, `undefined` in an array. The log then has the place of the value, such as
 * `/items/3/price: a bigint has no JSON form; return a string or a number`.
 *
 * TypeScript refuses most of these values where they are the whole output. It does not look into objects. Use
 * `toolResult` to return a value of type `unknown`.
 */
export type ToolOutput<O> = [O] extends [undefined]
  ? string | number | boolean | null | undefined | void | readonly unknown[] | PlainObject |
    CallToolResult | ToolResult
  : (StructuredContentOf<O> & Anything) | ToolResult | CallToolResult

/**
 * Any value. Unlike `unknown` it keeps the other members of a union, from which the compiler knows while it
 * infers `O` that `{ type: 'text' }` in an output is no wider `{ type: string }`.
 */
type Anything = {} | null | undefined

/**
 * Any object that JSON can represent. The objects of the language and of the platform that JSON cannot
 * represent have one of these symbols. Also accepts interfaces, which have no index signature.
 */
type PlainObject = object & {
  readonly content?: readonly ContentBlock[] | OtherContent | string | number | boolean | null | undefined
  /** A Map, a Set, a Promise, bytes. */
  readonly [Symbol.toStringTag]?: never
  /** A Date. */
  readonly [Symbol.toPrimitive]?: never
  /** A function, a class. */
  readonly [Symbol.hasInstance]?: never
  /** A generator, URLSearchParams, Headers. */
  readonly [Symbol.iterator]?: never
  /** A stream. */
  readonly [Symbol.asyncIterator]?: never
  /** A regular expression. */
  readonly [Symbol.match]?: never
  /** A Response of `fetch`. */
  readonly bodyUsed?: never
}

/** An object that is not an array. */
type OtherContent = object & { readonly [Symbol.iterator]?: never }
