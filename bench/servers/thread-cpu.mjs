// The CPU time of the thread that runs this file. Wall time also counts what other processes take.

import { openSync, readSync } from 'node:fs'
import { HAS_PROC } from './process-figures.mjs'

/**
 * Opens the figure of the kernel.
 *
 * @returns {() => number} reads the CPU time so far, in milliseconds. NaN if there is neither /proc nor
 *   `process.threadCpuUsage`. A read takes 3 µs
 */
export function openThreadCpu () {
  if (process.threadCpuUsage !== undefined) {
    return () => {
      const { user, system } = process.threadCpuUsage()
      return (user + system) / 1000
    }
  }
  if (!HAS_PROC) return () => NaN
  const file = openSync('/proc/thread-self/schedstat')
  const text = Buffer.alloc(64)
  return () => {
    // This call brings the figure of the running thread up to date. Without it the figure is up to 4 ms old.
    process.cpuUsage()
    readSync(file, text, 0, text.length, 0)
    return Number(text.latin1Slice(0, text.indexOf(' '))) / 1e6
  }
}

/**
 * Watches the turns of the event loop, by a timer that fires in each turn of a millisecond or more.
 *
 * @returns {() => number} ends the watch, and returns the most CPU time of one turn, in milliseconds
 */
export function watchTurns () {
  const read = openThreadCpu()
  let longest = 0
  let last = read()
  const timer = setInterval(() => {
    const now = read()
    longest = Math.max(longest, now - last)
    last = now
  }, 1).unref()
  return () => {
    clearInterval(timer)
    // Without /proc both are NaN.
    return Math.max(longest, read() - last)
  }
}
