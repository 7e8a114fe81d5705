// What has changed lately: every replica hears of all of it, so a client that was away is told on whichever
// it lands.

import type { ChangeEvent } from '../events/change-event.ts'
import type { EventBus } from '../events/event-bus.ts'

export interface RecentChanges {
  /** What a client may have missed that heard everything up to the time, in milliseconds since the epoch. */
  since (time: number): readonly ChangeEvent[]
  close (): void
}

const MAX_CHANGES = 1000
/** The clocks of replicas may differ by as much; what is told twice is harmless. */
const MAX_SKEW_MS = 5000
const ALL: readonly ChangeEvent[] = [{ type: 'events-missed' }]

export function createRecentChanges (bus: EventBus, now: () => number = Date.now): RecentChanges {
  const changes: Array<{ readonly at: number, readonly event: ChangeEvent }> = []
  // Of what was before, nothing is known here.
  let knownSince = now()
  const unsubscribe = bus.subscribe((event) => {
    changes.push({ at: now(), event })
    if (changes.length > MAX_CHANGES) knownSince = changes.shift()?.at ?? knownSince
  })
  return {
    since (time) {
      const from = time - MAX_SKEW_MS
      return from < knownSince ? ALL : changes.filter(({ at }) => at >= from).map(({ event }) => event)
    },
    close: unsubscribe
  }
}
