// Long work, such as the load of a catalog, shares the thread with requests.

import { clock } from './time.ts'

/** How long such work may keep the event loop busy before it lets requests run, in milliseconds. */
const MAX_BUSY_MS = 3
let lastYieldAt = 0

/**
 * Waits for one turn of the event loop, but only after MAX_BUSY_MS: a turn for each small file is slow. Most
 * calls return no promise: Node 20 and 22 are slow with promises while a load is attributed to its catalog.
 */
export function yieldToRequests (): Promise<void> | undefined {
  return clock.monotonic() - lastYieldAt < MAX_BUSY_MS ? undefined : nextTurn()
}

async function nextTurn (): Promise<void> {
  await new Promise(setImmediate)
  lastYieldAt = clock.monotonic()
}
