// Notices that the file of the database was removed, replaced or truncated while the store is open. LMDB goes
// on with the file that it opened, so writes would be acknowledged and lost.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { timers } from '../../../../base/time.ts'

export type FolderCheck = ReturnType<typeof createFolderCheck>

/**
 * Reads use memory that is mapped to the file. A read of a part that was cut off ends the process, so the
 * timer limits the time until reads are refused.
 */
const LOOK_EVERY_MS = 500

/** @param onBroken called once, with the error that all later calls throw. */
export function createFolderCheck (folder: string, onBroken: (error: Error) => void) {
  const path = join(folder, 'data.mdb')
  const atStart = statSync(path)
  /** LMDB never makes the file smaller. */
  let largest = atStart.size
  let broken: Error | undefined
  let isFresh = false
  const timer = timers.setInterval(look, LOOK_EVERY_MS).unref()

  function look (): void {
    if (broken !== undefined) return
    const problem = findProblem()
    if (problem === undefined) return
    broken = new Error(`${path} ${problem} while the service was running. Restart the service`)
    timers.clear(timer)
    onBroken(broken)
  }

  function findProblem (): string | undefined {
    try {
      const { ino, dev, size } = statSync(path)
      if (ino !== atStart.ino || dev !== atStart.dev) return 'was replaced'
      if (size < largest) return 'was truncated'
      largest = size
      return undefined
    } catch {
      return 'was removed'
    }
  }

  /** Throws once a look at the file, by `assertWhole` or by the timer, found that it is not whole. */
  function assertFoundWhole (): void {
    if (broken !== undefined) throw broken
  }

  return {
    /**
     * Throws once the file is not whole. The first call in each turn of the event loop looks at the file, the
     * others use what it found.
     */
    assertWhole (): void {
      if (!isFresh) {
        isFresh = true
        setImmediate(() => { isFresh = false })
        look()
      }
      assertFoundWhole()
    },
    assertFoundWhole,
    /** Whether `assertFoundWhole` returns. */
    get isWhole (): boolean { return broken === undefined },
    close (): void { timers.clear(timer) }
  }
}
