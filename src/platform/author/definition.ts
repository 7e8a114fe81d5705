// The common part of all definitions, and the mark by which the service recognises one.

// From the global registry of symbols: a catalog may have its own copy of this package, with the same symbol.
const KIND = Symbol.for('trivet.kind')

export type DefinitionKind =
  'tool' | 'prompt' | 'resource' | 'resource-template' | 'handle' | 'settings' | 'dependency' | 'upstream'

export interface Definition { readonly [KIND]: DefinitionKind }

export function define<T extends object, K extends DefinitionKind> (kind: K, options: T): T & Definition {
  return Object.freeze({ ...options, [KIND]: kind })
}

/** `undefined` for a value that no define function made. */
export function kindOf (value: unknown): DefinitionKind | undefined {
  return typeof value === 'object' && value !== null && KIND in value
    ? (value as Definition)[KIND]
    : undefined
}
