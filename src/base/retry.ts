// The pause before an update is tried again after a conflict.

import { setTimeout as pause } from 'node:timers/promises'

const FIRST_MS = 2
const MAX_MS = 100

/**
 * Waits a random time, whose maximum doubles with each attempt, so that the next attempts of concurrent
 * writers do not collide again. Rejects when the signal aborts.
 */
export async function pauseBefore (attempt: number, signal: AbortSignal): Promise<void> {
  await pause(Math.random() * Math.min(MAX_MS, FIRST_MS * 2 ** attempt), undefined, { signal })
}
