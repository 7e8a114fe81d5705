// The most recent change events. Every replica receives all of them, so any replica can tell a client that
// reconnects which changes it missed.

import type { Broadcast } from '../../store/changes/broadcast.ts'
import type { ChangeEvent } from '../../store/changes/change-event.ts'
import type { SharedClock } from './shared-clock.ts'

export interface RecentChanges {
  /**
   * The events that a client may have missed after `time`, by the clock that all replicas share. If this
   * replica does not know all of them, the only event is `events-missed`.
   */
  since (time: number): readonly ChangeEvent[]
  close (): void
}

const MAX_CHANGES = 1000
/** Replicas receive an event at times that differ by this much. An event that is told twice does no harm. */
const MAX_DELAY_MS = 5000
const EVENTS_MISSED: readonly ChangeEvent[] = [{ type: 'events-missed' }]

export function createRecentChanges (broadcast: Broadcast, { now }: Pick<SharedClock, 'now'>): RecentChanges {
  const changes: Array<{ readonly at: number, readonly event: ChangeEvent }> = []
  // This replica does not know the events before this time.
  let knownSince = now()
  const unsubscribe = broadcast.subscribe((event) => {
    // Clients are not told of it.
    if (event.type === 'resources-outdated') return
    changes.push({ at: now(), event })
    if (changes.length > MAX_CHANGES) knownSince = changes.shift()?.at ?? knownSince
  })
  return {
    since (time) {
      const from = time - MAX_DELAY_MS
      if (from < knownSince) return EVENTS_MISSED
      return changes.filter(({ at }) => at >= from).map(({ event }) => event)
    },
    close: unsubscribe
  }
}
