// The catalog of the simulation, in two releases: the first lacks the tool `later`, and has other code of the
// tool `strict`. Loaded once: a snapshot does not change.

import { fileURLToPath } from 'node:url'
import { CatalogCompiler } from '../../src/catalog/compiled/compile-catalog.ts'
import type { Snapshot } from '../../src/catalog/compiled/snapshot.ts'
import { openCatalogFolder } from '../../src/catalog/folder/catalog-folder.ts'
import * as trivet from '../../src/index.ts'

const FOLDER = fileURLToPath(new URL('catalog', import.meta.url))
const LATER = 'later'
const STRICT = 'strict'

export type Releases = readonly [first: Snapshot, second: Snapshot]

export async function loadReleases (): Promise<Releases> {
  const source = openCatalogFolder(FOLDER, { maxResourceBytes: 1_000_000, watchMode: 'off', trivet })
  const contents = await source.load()
  const tools = contents.tools.filter(({ definition }) => definition.name !== LATER).map((located) => (
    located.definition.name === STRICT ? { ...located, fingerprint: 'other code' } : located
  ))
  const compile = async (digest: string, parts: object) => (
    await new CatalogCompiler({ pageSize: 1000 }).compile({ ...contents, ...parts, digest })
  )
  return [await compile('first', { tools }), await compile('second', {})]
}
