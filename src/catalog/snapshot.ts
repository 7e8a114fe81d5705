// A snapshot: one immutable, compiled state of the catalog.

import type { Principal } from '../access/principal.ts'
import type { HandleKind } from '../state/handle-kind.ts'
import type { ServerSettings } from './contents.ts'
import { createResultWriter, type ResultWriter } from './result-json.ts'
import { createView, type Primitives, type View } from './view.ts'

export interface Snapshot {
  readonly server: ServerSettings
  readonly writer: ResultWriter
  readonly primitives: Primitives
  /** The entries on one page of a list, for a catalog that does not set `pageSize`. */
  readonly pageSize: number
  /** By the definition that the catalog's modules hold. */
  readonly handles: ReadonlyMap<object, HandleKind>
  /** For resources that are files, by URI: a text that changes whenever the file changes. */
  readonly stamps: ReadonlyMap<string, string>
  view (principal: Principal): View
}

export interface SnapshotOptions {
  /** The entries on one page of a list, for a catalog that does not set `pageSize`. */
  readonly pageSize: number
  /** The writer of the current revision by default. */
  readonly writer?: ResultWriter
}

/** Each view holds its lists in memory. Above this number the oldest is dropped, and made again if needed. */
const MAX_VIEWS = 64

export function createSnapshot (
  server: ServerSettings,
  primitives: Primitives,
  handles: ReadonlyMap<object, HandleKind>,
  stamps: ReadonlyMap<string, string>,
  // Only the name and the version: `server/discover` sends the other members of `info`.
  {
    pageSize, writer = createResultWriter({ name: server.info.name, version: server.info.version })
  }: SnapshotOptions
): Snapshot {
  const options = { writer, pageSize: server.pageSize ?? pageSize, listTtlMs: server.listTtlMs }
  const deciding = decidingScopes(primitives)
  const openView = createView(primitives, () => false, options)
  const views = new Map<string, View>()

  function view ({ scopes }: Principal): View {
    // Only scopes that a primitive needs. Callers who differ in other scopes share a view.
    const granted = deciding.filter((scope) => scopes.has(scope))
    if (granted.length === 0) return openView
    const key = granted.join(' ')
    let known = views.get(key)
    if (known === undefined) {
      known = createView(primitives, (scope) => granted.includes(scope), options)
      const [oldest] = views.keys()
      if (views.size >= MAX_VIEWS && oldest !== undefined) views.delete(oldest)
      views.set(key, known)
    }
    return known
  }

  return { server, writer, primitives, pageSize, handles, stamps, view }
}

function decidingScopes ({ tools, prompts, listed, templates, resources }: Primitives): string[] {
  const all = [tools, prompts, listed, templates, resources].flat().flatMap(({ scopes }) => scopes)
  return [...new Set(all)].toSorted()
}
