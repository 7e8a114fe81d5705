// The CPU time of the main thread of another process.

import { existsSync, readFileSync } from 'node:fs'

/** Whether the kernel tells it. */
export const HAS_THREAD_CPU = existsSync('/proc/self/task')

/** In milliseconds, up to when the thread last waited. */
export function threadCpuOf ({ pid }: { readonly pid?: number | undefined }): number {
  const [running] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
  return Number(running) / 1e6
}
