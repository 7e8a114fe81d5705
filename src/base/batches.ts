// Work on thousands of things, in batches. The event loop has a turn between two batches, so that requests
// are served.

import { clock } from './time.ts'

/** The most things of one batch, and the milliseconds after which it ends. */
const MAX_THINGS = 500
const MAX_MS = 8

export interface Batches<T> {
  /** Asks for the work on a thing. It is done once for a thing that is added again while it waits. */
  add (item: T): void
  /** Drops the thing if it waits. */
  delete (item: T): void
}

/** @param work on one thing, in the order in which things were added, in a later turn. Must not throw. */
export function createBatches<T> (work: (item: T) => void): Batches<T> {
  const waiting = new Set<T>()
  let isScheduled = false

  function schedule (): void {
    if (isScheduled || waiting.size === 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      workOff()
      schedule()
    })
  }

  function workOff (): void {
    const endsAt = clock.monotonic() + MAX_MS
    let left = MAX_THINGS
    for (const item of waiting) {
      waiting.delete(item)
      work(item)
      if (--left === 0 || clock.monotonic() >= endsAt) return
    }
  }

  return {
    add (item) {
      waiting.add(item)
      schedule()
    },
    delete (item) { waiting.delete(item) }
  }
}
