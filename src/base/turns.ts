// Turns of the event loop. Long work, such as the load of a catalog, shares the thread with requests.

import { clock } from './time.ts'

/** How long such work may keep the event loop busy before it lets requests run, in milliseconds. */
const MAX_BUSY_MS = 3
let lastYieldAt = 0

/**
 * Waits for one turn of the event loop, but only after MAX_BUSY_MS: a turn for each small file is slow. Most
 * calls return no promise: Node 20 and 22 are slow with promises while a load is attributed to its catalog.
 */
export function yieldToRequests (): Promise<void> | undefined {
  const busyMs = clock.monotonic() - lastYieldAt
  // Below zero once the source of time was replaced by one that is behind.
  return busyMs >= 0 && busyMs < MAX_BUSY_MS ? undefined : nextTurn()
}

async function nextTurn (): Promise<void> {
  await new Promise(setImmediate)
  lastYieldAt = clock.monotonic()
}

/** Work in steps. Yields after each step, and returns the result. */
export type Stepwise<T> = Generator<undefined, T, undefined>

/** Returns a promise if others should have a turn now, as `yieldToRequests` does. */
export type OfferTurn = () => Promise<void> | undefined

export function runAtOnce<T> (work: Stepwise<T>): T {
  let step = work.next()
  while (step.done !== true) step = work.next()
  return step.value
}

export async function runInTurns<T> (work: Stepwise<T>, offerTurn: OfferTurn = yieldToRequests): Promise<T> {
  let step = work.next()
  while (step.done !== true) {
    const turn = offerTurn()
    if (turn !== undefined) await turn
    step = work.next()
  }
  return step.value
}

/** A step takes a millisecond at most: each entry of a large list is a cache miss or two. */
const ENTRIES_IN_STEP = 500

/** Calls `visit` with each entry. */
export function * visitAll<E> (all: readonly E[], visit: (entry: E, index: number) => void): Stepwise<void> {
  for (let start = 0; start < all.length; start += ENTRIES_IN_STEP) {
    all.slice(start, start + ENTRIES_IN_STEP).forEach((entry, index) => visit(entry, start + index))
    yield
  }
}
