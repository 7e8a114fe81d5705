// What changed between two loads of a catalog, by name, for people.

import type { CompiledPrimitive } from '../compiled-primitive.ts'
import type { CatalogContents } from '../contents.ts'
import type { Snapshot } from '../snapshot.ts'

/** More names than these are counted. */
const MAX_NAMES = 20

/** A catalog as it was read, and as it is served. */
export interface LoadedCatalog { readonly contents: CatalogContents, readonly snapshot: Snapshot }

/** What is kept of an earlier load. */
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
 * Such as `~ tool search_books`, `+ prompt recommend`, `- resource file:///a.md`, and `~ lib/rates.ts` for a
 * file that defines nothing itself.
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
  const changes = [...primitives, ...files]
  return changes.length <= MAX_NAMES
    ? changes
    : [...changes.slice(0, MAX_NAMES), `and ${changes.length - MAX_NAMES} more`]
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
