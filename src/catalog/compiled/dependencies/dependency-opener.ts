// Opens the dependencies of each load, keeps those that have not changed, and closes those that no load uses.

import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../../../base/words.ts'
import type { CompiledDependency } from '../definitions/compile-dependency.ts'
import type { ReportProblem } from '../problem.ts'
import { DependencySet } from './dependency-set.ts'
import { openDependency, type DependencyLog, type OpenedDependency } from './opened-dependency.ts'

export interface OpeningDependency {
  readonly compiled: CompiledDependency
  /** Whether its module, and all that the module imports, are as they were in the load before. */
  readonly isUnchanged: boolean
  readonly report: ReportProblem
}

export interface DependencyOpener {
  /**
   * Opens all at the same time. `undefined` if one of them did not open: every problem has then been
   * reported, and what had opened is closed.
   * @param earlier the dependencies that are used now. Those that are the same are kept.
   */
  open (
    all: readonly OpeningDependency[], earlier: DependencySet | undefined
  ): Promise<DependencySet | undefined>
  /** Closes all that is open, and stops what is being opened. Never rejects. */
  close (): Promise<void>
}

export function createDependencyOpener (log: DependencyLog): DependencyOpener {
  const sets = new Set<DependencySet>()
  const closings = new Set<Promise<unknown>>()
  const openings = new Set<Promise<unknown>>()
  const stop = new AbortController()

  function createSet (byDefinition: ReadonlyMap<object, OpenedDependency>): DependencySet {
    const dependencies = new DependencySet(byDefinition, (unused) => {
      sets.delete(unused)
      const closing = Promise.all(unused.all.map(async (dependency) => await dependency.release()))
      closings.add(closing)
      closing.finally(() => closings.delete(closing))
    })
    for (const dependency of dependencies.all) dependency.hold()
    sets.add(dependencies)
    return dependencies
  }

  const closed = async () => { await Promise.all(closings) }

  const openAll: DependencyOpener['open'] = async (all, earlier) => {
    const dependencies = new Map<object, OpenedDependency>()
    await Promise.all(all.map(async (definition) => {
      const { compiled, report } = definition
      try {
        const dependency = findSame(definition, earlier) ?? await openDependency(compiled, log, stop.signal)
        dependencies.set(compiled.definition, dependency)
      } catch (error) {
        report(compiled.openedBy, `failed: ${messageOf(error)}`)
      }
    }))
    const openSet = createSet(dependencies)
    if (dependencies.size === all.length) return openSet
    openSet.release()
    await closed()
    return undefined
  }

  return {
    async open (all, earlier) {
      const opening = openAll(all, earlier).finally(() => openings.delete(opening))
      openings.add(opening)
      return await opening
    },
    async close () {
      stop.abort(new Error('the service is shutting down'))
      // Open dependencies close, although others of their load have not opened.
      await Promise.allSettled(openings)
      for (const dependencies of sets) dependencies.release()
      await closed()
    }
  }
}

/** Finds the value that is open already, if it would be opened in the same way. */
function findSame (
  { compiled, isUnchanged }: OpeningDependency, earlier: DependencySet | undefined
): OpenedDependency | undefined {
  const { definition, settings } = compiled
  const before = earlier?.named(compiled.name)
  const isSame = before !== undefined && (isUnchanged || before.compiled.definition === definition) &&
    isDeepStrictEqual(before.compiled.settings, settings)
  return isSame ? before : undefined
}
