// What changed between two loads of a catalog, by name, for people.

import { runInTurns, visitAll, type OfferTurn, type Stepwise } from '../../../base/turns.ts'
import type { LoadedCatalog } from '../../compiled/catalog.ts'
import type { CompiledPrimitive } from '../../compiled/compiled-primitive.ts'
import type { CatalogContents } from '../../compiled/contents.ts'
import { findChangedSpan } from './changed-span.ts'
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
 * `~ lib/rates.ts`, or `+ lib/rates.ts`, for a file that defines nothing itself.
 * @param yieldToRequests called between the steps.
 */
export async function findNamedChanges (
  before: EarlierCatalog, { contents, snapshot }: LoadedCatalog,
  yieldToRequests: OfferTurn = () => undefined
): Promise<string[]> {
  const edited = findEdited(before.fileDigests, contents.fileDigests)
  await yieldToRequests()
  const { keys, files: defining } = await runInTurns(findDefinedIn(edited, contents), yieldToRequests)
  const lines: string[] = []
  for (const [kind, of] of Object.entries(KINDS)) {
    const compared = compare(of(before.snapshot), of(snapshot), (key) => keys.has(key))
    const changes = await runInTurns(compared, yieldToRequests)
    lines.push(...changes.map(([sign, key]) => `${sign} ${kind} ${key}`))
  }
  const otherFiles = [...edited].filter((file) => !defining.has(file))
  // Before a first load that succeeds, other settings than those of the file are served.
  const hasFiles = before.fileDigests.size > 0
  const hasNewSettings = hasFiles &&
    JSON.stringify(before.snapshot.server) !== JSON.stringify(snapshot.server)
  const files = [
    ...otherFiles.map((file) => `${before.fileDigests.has(file) ? '~' : '+'} ${file}`),
    ...hasNewSettings ? ['~ server.yaml'] : []
  ]
  return clipNames([...lines, ...files], MAX_CHANGES)
}

type Digests = CatalogContents['fileDigests']

function findEdited (before: Digests, after: Digests): ReadonlySet<string> {
  const edited = new Set<string>()
  for (const [file, digest] of after) if (before.get(file) !== digest) edited.add(file)
  return edited
}

/** Finds the primitives that these files define, by name or URI, and the files that define any. */
function * findDefinedIn (
  edited: ReadonlySet<string>, { tools, prompts, resources, templates }: CatalogContents
): Stepwise<{ readonly keys: ReadonlySet<string>, readonly files: ReadonlySet<string> }> {
  const keys = new Set<string>()
  const files = new Set<string>()
  const add = (key: string, file: string): void => {
    if (!edited.has(file)) return
    keys.add(key)
    files.add(file)
  }
  yield * visitAll(tools, ({ definition, file }) => add(definition.name, file))
  yield * visitAll(prompts, ({ definition, file }) => add(definition.name, file))
  yield * visitAll(resources, ({ definition, file }) => add(definition.uri, file))
  yield * visitAll(templates, ({ definition, file }) => add(definition.uriTemplate, file))
  return { keys, files }
}

type NamedChange = readonly [sign: '+' | '~' | '-', key: string]

/** The keys that are new, gone, or have another entry; and those that `isEdited`. */
function * compare (
  before: readonly CompiledPrimitive[], after: readonly CompiledPrimitive[],
  isEdited: (key: string) => boolean
): Stepwise<NamedChange[]> {
  const span = findChangedSpan(
    before, after, (a, b) => (a === b || (a.key === b.key && a.json === b.json)) && !isEdited(b.key)
  )
  yield
  const old = new Map<string, string>()
  yield * visitAll(span.before, ({ key, json }) => old.set(key, json))
  const next = new Set<string>()
  const changes: NamedChange[] = []
  yield * visitAll(span.after, ({ key, json }) => {
    next.add(key)
    if (old.get(key) !== json || isEdited(key)) changes.push([old.has(key) ? '~' : '+', key])
  })
  yield * visitAll(span.before, ({ key }) => { if (!next.has(key)) changes.push(['-', key]) })
  return changes
}
