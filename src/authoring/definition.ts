// What every definition has in common, and how the service knows one when it sees one.

import type { Icon, Meta } from '../protocol/content.ts'

// In the global registry of symbols: a definition is known even where a catalog brought its own copy of this package.
const KIND = Symbol.for('trivet.kind')

export type DefinitionKind = 'tool' | 'prompt' | 'resource' | 'resource-template' | 'handle'

export interface Definition { readonly [KIND]: DefinitionKind }

/** What a definition of any kind may carry. */
export interface CommonOptions {
  /** The identifier: unique among its kind, stable, case-sensitive. */
  name: string
  /** For people. The name serves where there is none. */
  title?: string
  /** For the model: what it does, when to use it, what comes back. */
  description?: string
  /** Shown by clients that show icons. */
  icons?: Icon[]
  /** Passed through to clients as it is. Keys carry a prefix of your own: `example.com/team`. */
  _meta?: Meta
  /** OAuth scopes, all of which a caller must hold to see and use this. None by default. */
  scopes?: readonly string[]
  /** Where in its list: lower comes first, equal ones in the order of their names. 0 by default. */
  order?: number
}

export function define<T extends object, K extends DefinitionKind> (kind: K, options: T): T & Definition {
  return Object.freeze({ ...options, [KIND]: kind })
}

/** `undefined` for anything that no define function made. */
export function kindOf (value: unknown): DefinitionKind | undefined {
  return typeof value === 'object' && value !== null && KIND in value ? (value as Definition)[KIND] : undefined
}
