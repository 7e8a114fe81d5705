// Waiting for something to happen, and not for a time to pass.

import { setTimeout as pause } from 'node:timers/promises'

const DEADLINE_MS = 5000

/** Resolves once the condition holds; rejects where it does not in time. */
export async function until (
  holds: () => boolean | Promise<boolean>, what: string, deadlineMs = DEADLINE_MS
): Promise<void> {
  const deadline = performance.now() + deadlineMs
  while (!await holds()) {
    if (performance.now() > deadline) throw new Error(`waited ${deadlineMs} ms in vain for ${what}`)
    await pause(2)
  }
}

/** Resolves as the promise does; rejects where that takes too long. */
export async function within<T> (promise: Promise<T>, what: string, deadlineMs = DEADLINE_MS): Promise<T> {
  const timeout = new AbortController()
  const late = pause(deadlineMs, undefined, { signal: timeout.signal }).then(() => {
    throw new Error(`waited ${deadlineMs} ms in vain for ${what}`)
  })
  // Whichever comes second is of no interest.
  late.catch(() => {})
  try {
    return await Promise.race([promise, late])
  } finally {
    timeout.abort()
  }
}
