// Loads and compiles a catalog without a service.

import type { Test } from 'tap'
import type { LoadedCatalog } from '../../src/catalog/compiled/catalog.ts'
import { CatalogCompiler } from '../../src/catalog/compiled/compile-catalog.ts'
import { CatalogError, type Problem } from '../../src/catalog/compiled/problem.ts'
import type { Snapshot } from '../../src/catalog/compiled/snapshot.ts'
import { openCatalogFolder, type CatalogFolder } from '../../src/catalog/folder/catalog-folder.ts'
import { createUpstreamCompiler } from '../../src/features/upstreams/definition/upstream-dependency.ts'
import * as trivet from '../../src/index.ts'
import { writeCatalog, type Files } from './catalog-folder.ts'

function openSource (root: string): CatalogFolder {
  return openCatalogFolder(root, { maxResourceBytes: 1_000_000, watchMode: 'off', trivet })
}

export async function readCatalog (root: string): Promise<LoadedCatalog> {
  const contents = await openSource(root).load()
  const compiler = new CatalogCompiler({ pageSize: 1000, compileUpstream: createUpstreamCompiler() })
  return { contents, snapshot: await compiler.compile(contents) }
}

export async function loadSnapshot (root: string): Promise<Snapshot> {
  return (await readCatalog(root)).snapshot
}

/** Every problem of a catalog of these files. */
export async function problemsOf (t: Test, files: Files): Promise<readonly Problem[]> {
  const root = await writeCatalog(t, files)
  try {
    await loadSnapshot(root)
    return []
  } catch (error) {
    if (error instanceof CatalogError) return error.problems
    throw error
  }
}
