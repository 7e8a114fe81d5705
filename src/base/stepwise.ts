// Work that is done in steps: all at once, or with a turn of the event loop for others between the steps.

/** Yields after each step, and returns the result. */
export type Stepwise<T> = Generator<undefined, T, undefined>

/** Returns a promise if others should have a turn now. */
export type OfferTurn = () => Promise<void> | undefined

export function runAtOnce<T> (work: Stepwise<T>): T {
  let step = work.next()
  while (step.done !== true) step = work.next()
  return step.value
}

export async function runInTurns<T> (work: Stepwise<T>, offerTurn: OfferTurn): Promise<T> {
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
