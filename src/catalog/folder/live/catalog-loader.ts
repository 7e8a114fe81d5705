// Loads a catalog again and again. Each load keeps the dependencies of the one before that have not changed,
// and is refused if it breaks clients and server.yaml says `guard: refuse`.

import type { LoadedCatalog } from '../../compiled/catalog.ts'
import { CatalogCompiler, type CatalogCompilerOptions } from '../../compiled/compile-catalog.ts'
import type { CatalogContents } from '../../compiled/contents.ts'
import { createDependencyOpener } from '../../compiled/dependencies/dependency-opener.ts'
import type { LoadGuard } from '../../compiled/load-guard.ts'
import { CatalogError, type Problem } from '../../compiled/problem.ts'
import type { Snapshot } from '../../compiled/snapshot.ts'
import { yieldToRequests } from '../../../base/turns.ts'
import type { CatalogFolder } from '../catalog-folder.ts'
import { withLines } from '../line-of-problem.ts'
import { SERVER_FILE } from '../server-yaml.ts'
import { createLeftOutLog, createPassedOverLog, type CatalogLog } from './catalog-log.ts'
import { findNamedChanges, type EarlierCatalog } from './named-changes.ts'

/** Finds what a later catalog breaks for clients. */
type FindBreaks = (next: LoadedCatalog) => Promise<Problem[]>

/** Remembers what a catalog offers. */
type CreateComparison = (root: string, served: LoadedCatalog) => FindBreaks

const REFUSED: Problem = {
  file: SERVER_FILE,
  place: 'guard',
  rule: 'refuses changes that break clients; write "guard: warn" or "guard: off" to accept them'
}

export interface CatalogLoaderOptions
  extends Omit<CatalogCompilerOptions, 'openDependencies' | 'yieldToRequests'> {
  /** Called when the catalog has the guard of clients. Without it there is no guard. */
  readonly loadComparison?: () => Promise<CreateComparison>
}

export interface CatalogLoader {
  /** Rejects with a CatalogError that has every problem. */
  load (): Promise<LoadedCatalog>
  /** Compiles contents that are not those of the folder. */
  compile (contents: CatalogContents): Promise<LoadedCatalog>
  /** Finds how a catalog differs from the one that is served, by name. */
  nameChanges (loaded: LoadedCatalog): Promise<readonly string[]>
  /** Notes that a catalog is served. */
  noteServed (loaded: LoadedCatalog): void
  /** Closes all dependencies. */
  close (): Promise<void>
}

export function createCatalogLoader (
  folder: CatalogFolder, log: CatalogLog, guard: LoadGuard,
  { loadComparison, ...options }: CatalogLoaderOptions
): CatalogLoader {
  const logPassedOver = createPassedOverLog(folder.name, log)
  const logLeftOut = createLeftOutLog(folder.name, log)
  const dependencies = createDependencyOpener(log)
  let served: EarlierCatalog | undefined
  const compiler = new CatalogCompiler({
    ...options,
    yieldToRequests,
    openDependencies: async (all) => await dependencies.open(all, served?.snapshot.dependencies)
  })
  let guarded: { readonly mode: 'warn' | 'refuse', readonly findBreaks: FindBreaks } | undefined

  // A file of settings that is gone does not turn the guard off: all other files may be gone with it.
  const modeOf = ({ contents }: LoadedCatalog) => contents.server.guard ?? guarded?.mode ?? 'off'

  /** Rejects with a CatalogError for a catalog that must not take the place of the served one. */
  async function checkContracts (next: LoadedCatalog): Promise<void> {
    const mode = modeOf(next)
    if (guarded === undefined || mode === 'off') return
    const problems = await guarded.findBreaks(next)
    if (problems.length === 0) return
    if (mode === 'refuse') throw new CatalogError([...problems, REFUSED])
    log.warn({ catalog: folder.name, problems }, 'the catalog breaks clients, and is accepted')
  }

  async function guardContracts (loaded: LoadedCatalog): Promise<void> {
    const mode = modeOf(loaded)
    guarded = mode === 'off' || loadComparison === undefined
      ? undefined
      : { mode, findBreaks: (await loadComparison())(folder.name, loaded) }
  }

  return {
    async load () {
      let snapshot: Snapshot | undefined
      try {
        const catalog = await guard.run(folder.name, async () => {
          const contents = await folder.load()
          logPassedOver(contents.passedOver)
          snapshot = await withLines(folder.name, compiler.compile(contents))
          const next = { contents, snapshot }
          logLeftOut(contents.leftOut)
          await checkContracts(next)
          return next
        })
        folder.accepted()
        await guardContracts(catalog)
        return catalog
      } catch (error) {
        snapshot?.dependencies?.retire()
        throw error
      }
    },
    compile: async (contents) => ({ contents, snapshot: await compiler.compile(contents) }),
    nameChanges: async (loaded) =>
      served === undefined ? [] : await findNamedChanges(served, loaded, yieldToRequests),
    noteServed ({ contents: { fileDigests }, snapshot }) { served = { snapshot, fileDigests } },
    close: dependencies.close
  }
}
