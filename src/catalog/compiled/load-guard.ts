// Attributes errors that nobody caught to the load of a catalog. A module may open a connection that fails
// later, outside every promise of the load: such a catalog is refused, and the one before keeps serving.

import { AsyncLocalStorage } from 'node:async_hooks'
import { sep } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { messageOf } from '../../base/words.ts'
import { CatalogError, type Problem } from './problem.ts'

export interface LoadGuard {
  /** Runs a load. Rejects with a CatalogError too if code that it started threw, and nobody caught it. */
  run<T> (catalog: string, load: () => Promise<T>): Promise<T>
  /**
   * Whether the error arose in code that was started by a load that runs or was refused. Nothing that is
   * served depends on such code. Must be called while the error is handled as uncaught.
   */
  take (error: unknown): boolean
}

interface Load {
  isAccepted: boolean
  readonly errors: unknown[]
}

/** How many turns of the event loop a load waits at its end: a refused connection emits its error in one. */
const TURNS = 3

export function createLoadGuard (): LoadGuard {
  const loads = new AsyncLocalStorage<Load>()
  let hasRefused = false
  /** Until it is accepted, the process does nothing else, so every error is the error of this load. */
  let first: Load | undefined
  return {
    async run (catalog, load) {
      const current: Load = { isAccepted: false, errors: [] }
      const isFirst = first === undefined
      first ??= current
      try {
        // In Node 20 a start takes 8 % more CPU with the storage.
        const result = isFirst ? await load() : await loads.run(current, load)
        for (let turn = 0; turn < TURNS; turn++) await nextTurn()
        if (current.errors.length > 0) throw new CatalogError([])
        current.isAccepted = true
        return result
      } catch (error) {
        hasRefused = true
        if (!(error instanceof CatalogError)) throw error
        throw new CatalogError([...error.problems, ...current.errors.map((err) => toProblem(catalog, err))])
      } finally {
        // In Node 20 and 22 every promise of the process is slower while the storage is in use. Code of a
        // refused load can throw at any time.
        if (!hasRefused) loads.disable()
      }
    },
    take (error) {
      const load = loads.getStore() ?? first
      if (load === undefined || load.isAccepted) return false
      load.errors.push(error)
      return true
    }
  }
}

const HINT = '; a connection that a module opens needs a listener for "error"'

/** Names the file and line of the first frame in the catalog. Errors of connections have no such frame. */
function toProblem (catalog: string, error: unknown): Problem {
  const rule = `a module threw an error that nobody caught: ${messageOf(error)}`
  const frame = findFrame(catalog, error)
  return frame === undefined ? { file: catalog, place: '', rule: rule + HINT } : { ...frame, rule }
}

function findFrame (catalog: string, error: unknown): Pick<Problem, 'file' | 'place'> | undefined {
  const folder = catalog + sep
  for (const line of (error instanceof Error && error.stack?.split('\n')) || []) {
    const at = line.indexOf(folder)
    const [, file, number] = at < 0 ? [] : /^(.+?):(\d+):\d+\)?$/.exec(line.slice(at + folder.length)) ?? []
    if (file !== undefined) return { file: file.split(sep).join('/'), place: `line ${number}` }
  }
  return undefined
}
