// Waits for an event instead of a fixed time.

import { setTimeout as pause } from 'node:timers/promises'

/** Long after what a busy machine needs: a test whose claim is a time passes that one. */
const DEADLINE_MS = 30_000

/** Resolves when the condition holds. Rejects at the deadline. */
export async function until (
  holds: () => boolean | Promise<boolean>, what: string, deadlineMs = DEADLINE_MS
): Promise<void> {
  const start = performance.now()
  while (!await holds()) {
    const waitedMs = performance.now() - start
    if (waitedMs > deadlineMs) throw new Error(`waited ${deadlineMs} ms in vain for ${what}`)
    // A long wait asks less often: the process for which it waits needs the CPU.
    await pause(Math.min(2 + waitedMs / 50, 20))
  }
}

/** Resolves or rejects as the promise does. Rejects at the deadline. */
export async function within<T> (promise: Promise<T>, what: string, deadlineMs = DEADLINE_MS): Promise<T> {
  const timeout = new AbortController()
  const late = pause(deadlineMs, undefined, { signal: timeout.signal }).then(() => {
    throw new Error(`waited ${deadlineMs} ms in vain for ${what}`)
  })
  // The loser of the race may still reject.
  late.catch(() => {})
  try {
    return await Promise.race([promise, late])
  } finally {
    timeout.abort()
  }
}
