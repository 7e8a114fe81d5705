import { define, type Definition } from './definition.ts'
import type { ArgumentsOf, Schema } from './schema.ts'

export interface HandleOptions<S> {
  /** What the state is, in a word that a model understands: `basket`. Unique in the catalog; lower-case letters, digits, `-`. */
  kind: string
  /** What every id begins with, before an underscore: `bsk`. Up to 16 lower-case letters and digits. */
  prefix: string
  /** What the state must be. Checked whenever it is written; a value that does not match is an internal error. */
  schema: S
  /** How long the state is kept after its last use, in milliseconds. From a second to a year. */
  idleTtlMs: number
  /** How long it is kept however much it is used, in milliseconds. No limit by default. */
  maxAgeMs?: number
  /** How large the state may be as JSON, in bytes. 65,536 by default, 1,048,576 at most. */
  maxBytes?: number
  /** The tool that makes one: its description tells the model how long the state is kept, and errors point to it. */
  createdBy?: string
}

/** A kind of state, whose type has done its work. `T` is what a handle of this kind leads to. */
export type HandleDefinition<T = unknown> = Definition & Readonly<HandleOptions<object>> & { readonly '~value'?: T }

/**
 * Defines a kind of state that tools keep between calls. The id of a handle is an ordinary argument of the tools that
 * use it. Export the definition from a module of the catalog, and use it with `ctx.handles(definition)`.
 *
 * Only the caller who made a handle can use it, on whichever replica. Without authentication every caller is the same
 * anonymous one, and whoever knows an id may use it.
 *
 * @example
 * export const baskets = defineHandle({
 *   kind: 'basket',
 *   prefix: 'bsk',
 *   schema: { type: 'object', properties: { items: { type: 'array', items: { type: 'string' } } }, required: ['items'] },
 *   idleTtlMs: 86_400_000,
 *   createdBy: 'create_basket'
 * })
 */
export function defineHandle<const S extends Schema> (options: HandleOptions<S>): HandleDefinition<Mutable<ArgumentsOf<S>>> {
  return define('handle', options)
}

/** A draft is there to be changed. */
type Mutable<T> = T extends ReadonlyArray<infer E> ? Array<Mutable<E>>
  : T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T
