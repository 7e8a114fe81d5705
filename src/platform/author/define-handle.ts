// Defines a kind of state that outlives a request.

import { define, type Definition } from './definition.ts'
import type { ArgumentsOf, Schema } from './schema.ts'

/** What `defineHandle` takes. */
export interface HandleOptions<S> {
  /**
   * A word for the state that a model understands: `basket`. Unique in the catalog; lower-case letters,
   * digits, `-`.
   */
  kind: string
  /** The first part of every id, before an underscore: `bsk`. At most 16 lower-case letters and digits. */
  prefix: string
  /**
   * The schema of the state. Each written value is checked: one that does not match is an internal error.
   * Each value is checked again when it is read, because another release may have written it. Only a library
   * schema with transforms is not: it accepts what is written, and not what it makes of that.
   */
  schema: S
  /**
   * Makes a value of this schema of one that does not match it, which another release has written.
   * Called when such a value is read. The result is checked, and the next `update` writes it: a result
   * that does not match is an internal error. `read` and `update` throw what it throws. None by default:
   * `read` and `update` then throw a ToolError, and the log has the handle kind and what does not match.
   *
   * In a rolling deploy the replicas of both releases read the same state. An earlier release checks what a
   * later one has written against the earlier schema. Let the later schema write only what the earlier one
   * accepts, for example members that are new and not required, or deploy the wider schema first.
   *
   * @example migrate: (old) => ({ currency: 'EUR', items: readItems(old) })
   */
  migrate?: (old: unknown) => ArgumentsOf<S>
  /** How long the state is kept after its last use, in milliseconds: from one second to one year. */
  idleTtlMs: number
  /** How long the state is kept at most, in milliseconds. At least `idleTtlMs`. No limit by default. */
  maxAgeMs?: number
  /** The largest size of the state as JSON, in bytes. 65,536 by default, 1,048,576 at most. */
  maxBytes?: number
  /**
   * The name of the tool that creates these handles. The service appends the lifetime of the state to the
   * description of this tool, and names the tool in the error for an unknown handle if the caller sees it.
   */
  createdBy?: string
}

/** A kind of state, made by `defineHandle`. `T` is the type of the state. */
export type HandleDefinition<T = unknown> = Definition & Readonly<Omit<HandleOptions<object>, 'migrate'>> & {
  readonly migrate?: (old: unknown) => unknown
  readonly '~value'?: T
}

/**
 * Defines a kind of state that tools keep between calls. Any module of the catalog may define it, exported or
 * not; tools use it with `ctx.handles(definition)`. The id of a handle is an ordinary argument of the tools
 * that use it.
 *
 * Only the caller who created a handle can use it, on every replica. Without authentication all callers are
 * one anonymous caller: anyone who knows an id can use the handle.
 *
 * A definition that is not valid keeps the catalog from loading, with the file and the field in the log.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/tools#stateful-tools
 *
 * @example
 * export const baskets = defineHandle({
 *   kind: 'basket',
 *   prefix: 'bsk',
 *   schema: {
 *     type: 'object',
 *     properties: { items: { type: 'array', items: { type: 'string' } } },
 *     required: ['items']
 *   },
 *   idleTtlMs: 86_400_000,
 *   createdBy: 'create_basket'
 * })
 */
export function defineHandle<const S extends Schema> (
  options: HandleOptions<S>
): HandleDefinition<Mutable<ArgumentsOf<S>>> {
  return define('handle', options)
}

/** The type of a draft, which `update` changes. */
type Mutable<T> = T extends ReadonlyArray<infer E> ? Array<Mutable<E>>
  : T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T
