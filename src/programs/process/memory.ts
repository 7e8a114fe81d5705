// How much memory the process may use.

import { totalmem } from 'node:os'

const BYTES_PER_MIB = 1_048_576

/** @param workerCount the processes that share the memory. */
export function readMemory (workerCount = 1) {
  const { execArgv, env: { NODE_OPTIONS = '' } } = process
  return {
    containerBytes: Math.min(process.constrainedMemory() || Infinity, totalmem()) / workerCount,
    heapBytes: readHeapOption([NODE_OPTIONS, ...execArgv].join(' '))
  }
}

/**
 * Reads how many bytes the old generation of the heap may have. V8 reports only its sum with the young one.
 * Returns `undefined` if no option says it.
 * @param options those of NODE_OPTIONS first, then those of the command line: the last one counts.
 */
export function readHeapOption (options: string): number | undefined {
  const [, mebibytes] = [...options.matchAll(/--max[-_]old[-_]space[-_]size=(\d+)/g)].at(-1) ?? []
  return mebibytes === undefined ? undefined : Number(mebibytes) * BYTES_PER_MIB
}
