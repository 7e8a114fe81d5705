// What every compiled primitive has: its place in a list, and who may see it.

import type { CommonOptions } from '../authoring/definition.ts'

export interface CompiledPrimitive {
  /** Its name, or its URI: unique in its list. */
  readonly key: string
  readonly order: number
  /** All of which a caller must hold. */
  readonly scopes: readonly string[]
  /** Its entry in the list, as JSON. */
  readonly json: string
}

export function toCompiledPrimitive (
  key: string, { order = 0, scopes = [] }: Pick<CommonOptions, 'order' | 'scopes'>, entry: object
): CompiledPrimitive {
  return { key, order, scopes, json: JSON.stringify(entry) }
}

/** The order of a list: it never moves between requests, because clients and prompt caches rely on that. */
export function compareListOrder (
  a: Pick<CompiledPrimitive, 'key' | 'order'>, b: Pick<CompiledPrimitive, 'key' | 'order'>
): number {
  return a.order - b.order || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
}
