// The CPU time of the thread that runs the tests, without that of other threads and processes.

import { readFileSync } from 'node:fs'

/** Returns the milliseconds that this thread has run: those of the process where the system has no others. */
export function threadTime (): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
}
