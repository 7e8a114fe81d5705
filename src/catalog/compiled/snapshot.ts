// A snapshot: one immutable, compiled state of the catalog.

import { LRUCache } from 'lru-cache'
import type { Principal } from '../../access/principal.ts'
import { readCallLimits, type CallLimits } from '../../limits/call-limits.ts'
import type { HandleKind } from '../../store/records/handle-kind.ts'
import type { ServerSettings } from './contents.ts'
import type { CompiledSettings } from './definitions/compile-settings.ts'
import type { DependencySet } from './dependencies/dependency-set.ts'
import type { Listing } from './lists/listings.ts'
import { createResultWriter, type ResultWriter } from './results/result-json.ts'
import type { ScopeHierarchy } from './scopes/scope-hierarchy.ts'
import { createViews, type Primitives, type View } from './view.ts'

/** The compiled contents of a catalog. */
export interface SnapshotParts {
  readonly server: ServerSettings
  readonly primitives: Primitives
  /** The templates that list resources. Their entries are in `primitives.listed`. */
  readonly listings: readonly Listing[]
  /** By the definition that the catalog's modules hold. */
  readonly handles: ReadonlyMap<object, HandleKind>
  readonly settings: CompiledSettings
  /** `undefined` if the catalog has none, or if it is loaded without opening them. */
  readonly dependencies: DependencySet | undefined
  /** For resources that are files, by URI: a text that changes whenever the file changes. */
  readonly stamps: ReadonlyMap<string, string>
  readonly hierarchy: ScopeHierarchy
  /** A hash of all files. */
  readonly digest: string
  /** A short hash of all that is served. */
  readonly version: string
}

export interface Snapshot extends SnapshotParts {
  readonly writer: ResultWriter
  /** The entries on one page of a list, for a catalog that does not set `pageSize`. */
  readonly pageSize: number
  /** The limits of all calls, as the catalog sets them. */
  readonly limits: CallLimits
  view (principal: Principal): View
}

export interface SnapshotOptions {
  /** The entries on one page of a list, for a catalog that does not set `pageSize`. */
  readonly pageSize: number
  /** The writer of the current revision by default. */
  readonly writer?: ResultWriter
}

/** Above this number of scope sets the view of the least recently used one is dropped. */
const MAX_VIEWS = 64

export function createSnapshot (
  { server, primitives, ...parts }: SnapshotParts,
  // Only the name and the version: `server/discover` sends the other members of `info`.
  {
    pageSize, writer = createResultWriter({ name: server.info.name, version: server.info.version })
  }: SnapshotOptions
): Snapshot {
  const openFor = createViews(
    primitives, { writer, pageSize: server.pageSize ?? pageSize, listTtlMs: server.listTtlMs }
  )
  const granting = findGranting(primitives, parts.hierarchy)
  const openView = openFor(() => false)
  const views = new LRUCache<string, View>({ max: MAX_VIEWS })

  function view ({ scopes }: Principal): View {
    const granted = new Set<string>()
    for (const scope of scopes) for (const one of granting.get(scope) ?? NO_SCOPES) granted.add(one)
    if (granted.size === 0) return openView
    const key = [...granted].sort().join(' ')
    let known = views.get(key)
    if (known === undefined) {
      known = openFor((scope) => granted.has(scope))
      views.set(key, known)
    }
    return known
  }

  const limits = readCallLimits(server.limits)
  return { ...parts, server, writer, primitives, pageSize, limits, view }
}

const NO_SCOPES: readonly string[] = []

/**
 * By scope that a caller may hold: the scopes of primitives that it grants. All other scopes make no
 * difference: callers who differ in them share a view.
 */
function findGranting (
  { tools, prompts, listed, templates, resources }: Primitives, hierarchy: ScopeHierarchy
): ReadonlyMap<string, readonly string[]> {
  const needed = new Set(
    [tools, prompts, listed, templates, resources].flat().flatMap(({ scopes }) => scopes)
  )
  const held = new Set([...needed, ...hierarchy.keys()])
  return new Map([...held].map(
    (scope) => [scope, [scope, ...hierarchy.get(scope) ?? []].filter((one) => needed.has(one))]
  ))
}
