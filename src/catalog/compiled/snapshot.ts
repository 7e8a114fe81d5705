// A snapshot: one immutable, compiled state of the catalog.

import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Principal } from '../../platform/access/principal.ts'
import { visitAll, type Stepwise } from '../../base/turns.ts'
import { readCallLimits, type CallLimits } from '../../platform/limits/call-limits.ts'
import { APP_TYPE, APPS_CAPABILITY } from '../../platform/protocol/apps.ts'
import type { CapabilitySettings } from '../../platform/protocol/capabilities.ts'
import { hasMetaOnParts, hasSkills, hasTasks } from '../../platform/protocol/revisions.ts'
import { SKILLS_CAPABILITY } from '../../platform/protocol/skills.ts'
import { TASKS_CAPABILITY } from '../../platform/protocol/tasks.ts'
import type { HandleKind } from '../../platform/store/records/handle-kind.ts'
import type { CompiledPrimitive, CompiledTool } from './compiled-primitive.ts'
import type { ServerSettings } from './contents.ts'
import type { CompiledSettings } from './definitions/compile-settings.ts'
import type { DependencySet } from './dependencies/dependency-set.ts'
import type { Listing } from './lists/listings.ts'
import { createResultWriter, type ResultWriter } from './results/result-json.ts'
import { UnchangedReads } from './results/unchanged-reads.ts'
import { scopesToSee, toScopesKey } from './scopes/access-rule.ts'
import type { ScopeHierarchy } from './scopes/scope-hierarchy.ts'
import type { UpstreamFacts } from './upstreams/upstream-dependency.ts'
import { createViews, type Primitives, type View } from './view.ts'

/** The compiled contents of a catalog. */
export interface SnapshotParts {
  readonly server: ServerSettings
  readonly primitives: Primitives
  /** The tools of the service itself. They come last in the list. */
  readonly ownTools: readonly CompiledTool[]
  /** The templates that list resources. Their entries are in `primitives.listed`. */
  readonly listings: readonly Listing[]
  /** The kinds, by the definitions that the catalog's modules hold. */
  readonly handles: ReadonlyMap<object, HandleKind>
  readonly settings: CompiledSettings
  /** For operators. */
  readonly upstreams: readonly UpstreamFacts[]
  /**
   * `undefined` if the catalog has none, or if it is loaded without opening them. Upstreams are among them.
   */
  readonly dependencies: DependencySet | undefined
  /** For resources that are files, by URI: a text that changes whenever the file changes. */
  readonly stamps: ReadonlyMap<string, string>
  readonly hierarchy: ScopeHierarchy
  /** A hash of all files. */
  readonly digest: string
  /** A short hash of all that is served. Callers must not learn it: it changes with hidden entries. */
  readonly version: string
}

export interface Snapshot extends SnapshotParts, Required<SnapshotOptions> {
  /** The limits of all calls, as the catalog sets them. */
  readonly limits: CallLimits
  readonly uses: ExtensionUses
  readonly reads: UnchangedReads
  view (principal: Principal): View
}

/** The extensions of the protocol that a catalog uses. */
interface ExtensionUses { readonly tasks: boolean, readonly skills: boolean, readonly apps: boolean }

export interface SnapshotOptions {
  /** The entries on one page of a list, for a catalog that does not set `pageSize`. */
  readonly pageSize: number
  /** The writer of the current revision by default. */
  readonly writer?: ResultWriter
}

/** Above this number of scope sets the view of the least recently used one is dropped. */
const MAX_VIEWS = 64

export function * createSnapshot (
  { server, primitives, ...parts }: SnapshotParts,
  // Only the name and the version: `server/discover` sends the other members of `info`.
  {
    pageSize, writer = createResultWriter({ name: server.info.name, version: server.info.version })
  }: SnapshotOptions
): Stepwise<Snapshot> {
  const { listTtlMs, openCacheScope } = server
  const offered = { ...primitives, tools: toOffered(primitives.tools, parts.ownTools) }
  const openFor = yield * createViews(
    offered, { writer, pageSize: server.pageSize ?? pageSize, listTtlMs, openCacheScope }
  )
  const granting = yield * findGranting(primitives, parts.hierarchy)
  const openView = openFor(() => false)
  const views = new LRUCache<string, View>({ max: MAX_VIEWS })

  function view ({ scopes }: Principal): View {
    const grants = new Set<string>()
    for (const scope of scopes) for (const grant of granting.get(scope) ?? NO_SCOPES) grants.add(grant)
    if (grants.size === 0) return openView
    const key = toScopesKey([...grants].sort())
    const scoped = views.get(key) ?? openFor((scope) => grants.has(scope))
    views.set(key, scoped)
    return scoped
  }

  const limits = readCallLimits(server.limits)
  const uses = yield * findExtensionUses(primitives)
  const reads = new UnchangedReads(writer)
  return { ...parts, server, writer, primitives, pageSize, limits, uses, reads, view }
}

/** A list is made again for another array: the snapshots of one catalog share this one. */
const offeredTools = new WeakMap<readonly CompiledTool[], readonly CompiledTool[]>()

function toOffered (
  tools: readonly CompiledTool[], ownTools: readonly CompiledTool[]
): readonly CompiledTool[] {
  if (ownTools.length === 0) return tools
  const offered = offeredTools.get(tools) ?? [...tools, ...ownTools]
  offeredTools.set(tools, offered)
  return offered
}

const NO_SCOPES: readonly string[] = []

/**
 * Finds the scopes of primitives that each scope of a caller grants. All other scopes make no difference:
 * callers who differ in them share a view.
 */
function * findGranting (
  { tools, prompts, listed, templates, resources }: Primitives, hierarchy: ScopeHierarchy
): Stepwise<ReadonlyMap<string, readonly string[]>> {
  const inUse = new Set<string>()
  for (const all of [tools, prompts, listed, templates, resources]) {
    yield * visitAll<CompiledPrimitive>(all, ({ scopes }) => scopes.forEach((scope) => inUse.add(scope)))
  }
  const granting = new Set([...inUse, ...hierarchy.keys()])
  return new Map([...granting].map(
    (scope) => [scope, [scope, ...hierarchy.get(scope) ?? []].filter((grant) => inUse.has(grant))]
  ))
}

/** A person can compare versions of this length. Among 300,000 versions no two are likely to be the same. */
const VERSION_LENGTH = 12

type VersionedParts = Pick<SnapshotParts, 'server' | 'primitives' | 'hierarchy' | 'digest'>

/** Hashes all that is served. Replicas that serve the same have the same version. */
export function * toCatalogVersion (
  { server, primitives, hierarchy, digest }: VersionedParts
): Stepwise<string> {
  const lists: string[] = []
  for (const [list, all] of Object.entries(primitives)) {
    const digests: string[] = []
    yield * visitAll<CompiledPrimitive>(all, (primitive) => digests.push(digestOf(primitive)))
    lists.push(`${list} ${digests.join(' ')}`)
  }
  yield
  const scopes = [...hierarchy].map(([scope, included]) => [scope, ...included])
  return hash('sha256', JSON.stringify([digest, server, scopes, lists])).slice(0, VERSION_LENGTH)
}

/** Hashes what every caller may see. It says nothing of hidden entries, of files and of code. */
export function toPublicVersion ({ server, primitives }: Snapshot): string {
  const { info, instructions, listTtlMs, readTtlMs, pageSize, continuesCalls } = server
  const lists = Object.entries(primitives).map(([list, all]) => {
    const open = all.filter((primitive: CompiledPrimitive) => scopesToSee(primitive).length === 0)
    return `${list} ${open.map(digestOf).join(' ')}`
  })
  const parts = [info, instructions, listTtlMs, readTtlMs, pageSize, continuesCalls, lists]
  return hash('sha256', JSON.stringify(parts)).slice(0, VERSION_LENGTH)
}

/** A reload takes over the compiled primitives that have not changed. */
const digests = new WeakMap<CompiledPrimitive, string>()

function digestOf (primitive: CompiledPrimitive): string {
  const { json, order, scopes, whenMissing } = primitive
  const digest = digests.get(primitive) ??
    hash('sha256', `${order} ${whenMissing} ${toScopesKey(scopes)}\n${json}`)
  digests.set(primitive, digest)
  return digest
}

/** Returns a member of the server's capabilities. Empty without an extension that the revision can have. */
export function toExtensions (
  { uses }: Snapshot, revision: string
): { readonly extensions?: { readonly [name: string]: CapabilitySettings } } {
  const extensions = {
    ...(uses.tasks && hasTasks(revision) && TASKS_CAPABILITY.extensions),
    ...(uses.skills && hasSkills(revision) && SKILLS_CAPABILITY.extensions),
    // A tool names its app in its `_meta`.
    ...(uses.apps && hasMetaOnParts(revision) && APPS_CAPABILITY.extensions)
  }
  return Object.keys(extensions).length === 0 ? {} : { extensions }
}

/** Called once: each session asks for the extensions, and a catalog may have many resources. */
function * findExtensionUses ({ tools, resources, skills }: Primitives): Stepwise<ExtensionUses> {
  let [tasks, apps] = [false, false]
  yield * visitAll(tools, ({ task }) => { tasks ||= task?.isForQuestions === false })
  // Both the apps of apps/ and those that an author defines.
  yield * visitAll(resources, ({ mimeType }) => { apps ||= mimeType === APP_TYPE })
  return { tasks, skills: skills.length > 0, apps }
}
