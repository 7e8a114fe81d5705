// The common part of all definitions, and the mark by which the service recognises one.

import type { Icon, Meta } from '../protocol/content.ts'

// From the global registry of symbols: a catalog may have its own copy of this package, with the same symbol.
const KIND = Symbol.for('trivet.kind')

export type DefinitionKind = 'tool' | 'prompt' | 'resource' | 'resource-template' | 'handle'

export interface Definition { readonly [KIND]: DefinitionKind }

/** The options that tools, prompts, resources and templates share. */
export interface CommonOptions {
  /** The identifier. Unique among its kind, case-sensitive, and the same in every release. */
  name: string
  /** The name that people see. `name` by default. */
  title?: string
  /** For the model: what the primitive does, when to use it, and what it returns. */
  description?: string
  /** https://modelcontextprotocol.io/specification/2026-07-28/basic/index#icons */
  icons?: Icon[]
  /** Sent to clients unchanged. Give each key a prefix of your own: `example.com/team`. */
  _meta?: Meta
  /**
   * The OAuth scopes that a caller needs, all of them. For any other caller the primitive does not exist.
   * None by default.
   */
  scopes?: readonly string[]
  /** The position in its list: lower comes first, equal ones are sorted by name. 0 by default. */
  order?: number
}

export function define<T extends object, K extends DefinitionKind> (kind: K, options: T): T & Definition {
  return Object.freeze({ ...options, [KIND]: kind })
}

/** `undefined` for a value that no define function made. */
export function kindOf (value: unknown): DefinitionKind | undefined {
  return typeof value === 'object' && value !== null && KIND in value
    ? (value as Definition)[KIND]
    : undefined
}
