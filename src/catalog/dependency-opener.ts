// Opens the dependencies of each load, keeps those that have not changed, and closes those that no load uses.

import { isDeepStrictEqual } from 'node:util'
import type { CompiledDependency } from './compile-dependency.ts'
import { DependencySet } from './dependency-set.ts'
import { openDependency, type DependencyLog, type OpenedDependency } from './opened-dependency.ts'
import type { ReportProblem } from './problem.ts'

export interface OpeningDependency { readonly compiled: CompiledDependency, readonly report: ReportProblem }

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
  const stop = new AbortController()

  function createSet (opened: readonly OpenedDependency[]): DependencySet {
    const set = new DependencySet(opened, (unused) => {
      sets.delete(unused)
      const closing = Promise.all(opened.map(async (one) => await one.release()))
      closings.add(closing)
      closing.finally(() => closings.delete(closing))
    })
    for (const one of opened) one.hold()
    sets.add(set)
    return set
  }

  const closed = async () => { await Promise.all(closings) }

  return {
    async open (all, earlier) {
      const results = await Promise.allSettled(all.map(async ({ compiled }) => {
        const known = earlier?.get(compiled.definition)
        return known !== undefined && isDeepStrictEqual(known.compiled.settings, compiled.settings)
          ? known
          : await openDependency(compiled, log, stop.signal)
      }))
      const set = createSet(results.flatMap((one) => one.status === 'fulfilled' ? [one.value] : []))
      if (set.all.length === all.length) return set
      for (const [index, result] of results.entries()) {
        if (result.status === 'fulfilled') continue
        const { message } = result.reason
        all[index]?.report('open', `failed: ${message}`)
      }
      set.release()
      await closed()
      return undefined
    },
    async close () {
      stop.abort(new Error('the service is shutting down'))
      for (const set of sets) set.release()
      await closed()
    }
  }
}
