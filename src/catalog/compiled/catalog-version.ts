// The version of a catalog: a hash of all that is served. Replicas that serve the same have the same version.

import { hash } from 'node:crypto'
import type { CompiledPrimitive } from './compiled-primitive.ts'
import type { ServerSettings } from './contents.ts'
import type { ScopeHierarchy } from './scopes/scope-hierarchy.ts'
import type { Primitives } from './view.ts'

interface VersionedParts {
  readonly server: ServerSettings
  readonly primitives: Primitives
  readonly hierarchy: ScopeHierarchy
  /** The digest of the files. */
  readonly digest: string
}

/** Long enough for a person to compare, and for 300,000 versions without two that are the same. */
const LENGTH = 12

/** A reload takes over the compiled primitives that have not changed. */
const known = new WeakMap<CompiledPrimitive, string>()

export function toCatalogVersion ({ server, primitives, hierarchy, digest }: VersionedParts): string {
  const lists = Object.entries(primitives).map(([list, all]) => `${list} ${all.map(digestOf).join(' ')}`)
  const scopes = [...hierarchy].map(([scope, included]) => [scope, ...included])
  return hash('sha256', JSON.stringify([digest, server, scopes, lists])).slice(0, LENGTH)
}

function digestOf (primitive: CompiledPrimitive): string {
  const found = known.get(primitive)
  if (found !== undefined) return found
  const { json, order, scopes, whenMissing } = primitive
  const made = hash('sha256', `${order} ${whenMissing} ${scopes.join(' ')}\n${json}`)
  known.set(primitive, made)
  return made
}
