// One immutable, compiled state of the catalog.

import type { Principal } from '../access/principal.ts'
import type { HandleKind } from '../state/handle-kind.ts'
import type { ServerSettings } from './contents.ts'
import { createResultWriter, type ResultWriter } from './result-json.ts'
import { createView, type Primitives, type View } from './view.ts'

export interface Snapshot {
  readonly server: ServerSettings
  readonly writer: ResultWriter
  readonly primitives: Primitives
  /** Entries on one page of a list. */
  readonly pageSize: number
  /** The kinds of state, by what the catalog's modules know them by. */
  readonly handles: ReadonlyMap<object, HandleKind>
  /** For resources that are files: what changes whenever the file does. By URI. */
  readonly stamps: ReadonlyMap<string, string>
  view (principal: Principal): View
}

export interface SnapshotOptions {
  /** Entries on one page of a list, where the catalog does not say. */
  readonly pageSize: number
  /** How results are put: as the current revision has them by default. */
  readonly writer?: ResultWriter
}

/**
 * Each kind of caller costs a set of lists; past this many, the one made first is made again when it is
 * needed.
 */
const MAX_VIEWS = 64

export function createSnapshot (
  server: ServerSettings, primitives: Primitives, handles: ReadonlyMap<object, HandleKind>, stamps: ReadonlyMap<string, string>,
  // Name and version: the rest is told once, by discovery, and not with every answer.
  {
    pageSize, writer = createResultWriter({ name: server.info.name, version: server.info.version })
  }: SnapshotOptions
): Snapshot {
  const options = { writer, pageSize: server.pageSize ?? pageSize, listTtlMs: server.listTtlMs }
  const deciding = decidingScopes(primitives)
  const openView = createView(primitives, () => false, options)
  const views = new Map<string, View>()

  function view ({ scopes }: Principal): View {
    // Scopes that decide nothing here must not tell two callers apart.
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
