// Measures stalls by the CPU time of the thread itself. Wall time also counts what other processes, and the
// threads that collect garbage, take from a busy machine.

import { openSync, readSync } from 'node:fs'
import { HAS_PROC } from './process-figures.mjs'

/** How often the timer fires, in milliseconds. The figure has the work of up to this time too. */
const INTERVAL_MS = 2
/** Linux writes the nanoseconds that the thread was on a CPU. It updates them every 1 to 4 ms. */
const SCHEDSTAT = `/proc/self/task/${process.pid}/schedstat`

/** @returns {() => number} ends the measurement; returns the longest stall in ms. NaN if it is not known */
export function watchOwnStalls () {
  const readMs = createReader()
  if (readMs === undefined) return () => NaN
  let [last, longest] = [readMs(), 0]
  const timer = setInterval(() => {
    const now = readMs()
    longest = Math.max(longest, now - last)
    last = now
  }, INTERVAL_MS).unref()
  return () => {
    clearInterval(timer)
    return longest
  }
}

/** Newer versions of Node tell the exact time. */
function createReader () {
  if (process.threadCpuUsage !== undefined) {
    return () => {
      const { user, system } = process.threadCpuUsage()
      return (user + system) / 1000
    }
  }
  if (!HAS_PROC) return undefined
  const file = openSync(SCHEDSTAT)
  const bytes = Buffer.alloc(64)
  return () => parseInt(bytes.latin1Slice(0, readSync(file, bytes, 0, bytes.length, 0))) / 1e6
}
