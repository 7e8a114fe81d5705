import { clock, timers } from '../../../base/time.ts'
import { createLogRoom } from '../../../limits/log-room.ts'
import type { EventLog, EventLogLimits, LoggedEvent } from '../../changes/event-log.ts'

interface MemoryEventLogOptions extends EventLogLimits {
  /** The limit of all streams together. 64 MiB by default. */
  readonly maxBytes?: number
  readonly now?: () => number
}

/** The log of a single process. */
export function createMemoryEventLog (options: MemoryEventLogOptions): EventLog {
  const { maxEvents, ttlMs, maxBytes = 67_108_864, now = clock.now } = options
  const streams = new Map<string, LoggedEvent[]>()
  const room = createLogRoom({ maxEvents, ttlMs, maxBytes, now })
  const timer = timers.setInterval(() => drop(room.expire()), ttlMs).unref()

  function drop (gone: readonly string[]): void {
    for (const stream of gone) streams.delete(stream)
  }

  return {
    async append (stream, event, shareholder) {
      const events = streams.get(stream) ?? []
      events.push(event)
      if (events.length > maxEvents) events.shift()
      const { excess, expired } = room.add(stream, event.text.length, shareholder)
      drop(excess)
      drop(expired)
      streams.set(stream, events)
    },
    async read (stream, after) {
      return room.has(stream)
        ? streams.get(stream)?.filter(({ position }) => position > after)
        : undefined
    },
    async close () {
      timers.clear(timer)
      streams.clear()
    }
  }
}
