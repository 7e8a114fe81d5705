// What changed between two loads of a catalog, by name, for people.

import type { LoadedCatalog } from '../../compiled/catalog.ts'
import type { CompiledPrimitive } from '../../compiled/compiled-primitive.ts'
import type { CatalogContents } from '../../compiled/contents.ts'
import type { Snapshot } from '../../compiled/snapshot.ts'
import { clipNames } from './catalog-log.ts'

/** The most changes that are named. */
const MAX_CHANGES = 20

/** The parts of an earlier load that a comparison needs. */
export interface EarlierCatalog {
  readonly snapshot: Snapshot
  readonly fileDigests: CatalogContents['fileDigests']
}

const KINDS = {
  tool: ({ primitives }: Snapshot) => primitives.tools,
  prompt: ({ primitives }: Snapshot) => primitives.prompts,
  resource: ({ primitives }: Snapshot) => primitives.listed,
  'resource template': ({ primitives }: Snapshot) => primitives.templates,
  skill: ({ primitives }: Snapshot) => primitives.skills
}

/**
 * Returns lines such as `~ tool search_books`, `+ prompt recommend`, `- resource file:///a.md`, and
 * `~ lib/rates.ts` for a file that defines nothing itself.
 */
export function findNamedChanges (before: EarlierCatalog, { contents, snapshot }: LoadedCatalog): string[] {
  const edited = findEdited(before.fileDigests, contents.fileDigests)
  const fileOf = filesByKey(contents)
  const primitives = Object.entries(KINDS).flatMap(([kind, of]) => (
    compare(of(before.snapshot), of(snapshot), (key) => edited.has(fileOf.get(key) ?? '')).map(
      ([sign, key]) => `${sign} ${kind} ${key}`
    )
  ))
  const defining = new Set([...fileOf.values()])
  const others = [...edited].filter((file) => !defining.has(file))
  const hasNewSettings = JSON.stringify(before.snapshot.server) !== JSON.stringify(snapshot.server)
  const files = [...others, ...hasNewSettings ? ['server.yaml'] : []].map((file) => `~ ${file}`)
  return clipNames([...primitives, ...files], MAX_CHANGES)
}

type Digests = CatalogContents['fileDigests']

function findEdited (before: Digests, after: Digests): ReadonlySet<string> {
  return new Set([...after].filter(([file, digest]) => before.get(file) !== digest).map(([file]) => file))
}

function filesByKey ({ tools, prompts, resources, templates }: CatalogContents): ReadonlyMap<string, string> {
  return new Map([
    ...[...tools, ...prompts].map(({ definition: { name }, file }) => [name, file] as const),
    ...resources.map(({ definition: { uri }, file }) => [uri, file] as const),
    ...templates.map(({ definition: { uriTemplate }, file }) => [uriTemplate, file] as const)
  ])
}

/** The keys that are new, gone, or have another entry; and those that `isEdited`. */
function compare (
  before: readonly CompiledPrimitive[], after: readonly CompiledPrimitive[],
  isEdited: (key: string) => boolean
): Array<readonly [sign: string, key: string]> {
  const old = new Map(before.map(({ key, json }) => [key, json]))
  const next = new Set(after.map(({ key }) => key))
  const changed = after.filter(({ key, json }) => old.get(key) !== json || isEdited(key))
  return [
    ...changed.map(({ key }) => [old.has(key) ? '~' : '+', key] as const),
    ...before.filter(({ key }) => !next.has(key)).map(({ key }) => ['-', key] as const)
  ]
}
