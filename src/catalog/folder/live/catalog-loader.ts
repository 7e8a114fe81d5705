// Loads a catalog again and again. Each load keeps the dependencies of the one before that have not changed.

import type { LoadedCatalog } from '../../compiled/catalog.ts'
import { CatalogCompiler, type CatalogCompilerOptions } from '../../compiled/compile-catalog.ts'
import { createDependencyOpener } from '../../compiled/dependencies/dependency-opener.ts'
import type { LoadGuard } from '../../compiled/load-guard.ts'
import type { Snapshot } from '../../compiled/snapshot.ts'
import { yieldToRequests } from '../../modules/yield-to-requests.ts'
import type { CatalogFolder } from '../catalog-folder.ts'
import { createPassedOverLog, type CatalogLog } from './catalog-log.ts'
import { createContractGuard, type CreateComparison } from './contract-guard.ts'
import { findNamedChanges, type EarlierCatalog } from './named-changes.ts'

export interface CatalogLoaderOptions
  extends Omit<CatalogCompilerOptions, 'openDependencies' | 'yieldToRequests'> {
  /** Called when the catalog has the guard of clients. */
  readonly loadComparison?: () => Promise<CreateComparison>
}

export interface CatalogLoader {
  /** Rejects with a CatalogError that has every problem. */
  load (): Promise<LoadedCatalog>
  /** Notes that a catalog is served. Returns how it differs from the one before, by name. */
  noteServed (loaded: LoadedCatalog): readonly string[]
  /** Closes all dependencies. */
  close (): Promise<void>
}

export function createCatalogLoader (
  folder: CatalogFolder, log: CatalogLog, guard: LoadGuard,
  { loadComparison, ...options }: CatalogLoaderOptions
): CatalogLoader {
  const logPassedOver = createPassedOverLog(folder.name, log)
  const dependencies = createDependencyOpener(log)
  let served: EarlierCatalog | undefined
  const compiler = new CatalogCompiler({
    ...options,
    yieldToRequests,
    openDependencies: async (all) => await dependencies.open(all, served?.snapshot.dependencies)
  })
  const contracts = createContractGuard({
    root: folder.name,
    loadComparison,
    onBreaks (problems) {
      log.warn({ catalog: folder.name, problems }, 'the catalog breaks clients, and is accepted')
    }
  })

  return {
    async load () {
      let snapshot: Snapshot | undefined
      try {
        const catalog = await guard.run(folder.name, async () => {
          const contents = await folder.load()
          logPassedOver(contents.passedOver)
          snapshot = await compiler.compile(contents)
          const next = { contents, snapshot }
          await contracts.check(next)
          return next
        })
        folder.accepted()
        await contracts.accept(catalog)
        return catalog
      } catch (error) {
        snapshot?.dependencies?.retire()
        throw error
      }
    },
    noteServed (loaded) {
      const { contents: { fileDigests }, snapshot } = loaded
      const changes = served === undefined ? [] : findNamedChanges(served, loaded)
      served = { snapshot, fileDigests }
      return changes
    },
    close: dependencies.close
  }
}
