// How long to wait before trying again what others were faster at.

import { setTimeout as pause } from 'node:timers/promises'

const FIRST_MS = 2
const LONGEST_MS = 100

/**
 * Waits a random time, up to twice as long for each attempt so far: contenders spread out instead of meeting
 * again. Rejects when the signal aborts.
 */
export async function pauseBefore (attempt: number, signal: AbortSignal): Promise<void> {
  await pause(Math.random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt), undefined, { signal })
}
