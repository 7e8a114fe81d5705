// The recent events of streams. A client whose connection broke reconnects and gets the events that it
// missed.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery

import { clock, timers } from '../../../base/time.ts'
import type { Holder } from '../../limits/holder.ts'
import { LIMITS, withinHeap } from '../../limits/limits.ts'
import { createLogRoom } from '../../limits/log-room.ts'

export interface LoggedEvent {
  /** Counts from 1, without gaps. The first events of a long stream are dropped. */
  readonly position: number
  readonly text: string
}

/**
 * Each stream has a maximum number of events and a lifetime. New events replace the oldest ones. All streams
 * together have a limit of bytes.
 */
export interface EventLog {
  /**
   * Events must be appended in the order of their positions. Only the replica that serves a stream appends to
   * it. If that replica is lost, another one may take over.
   *
   * @param holder who the stream is for: its streams have a share of the log's bytes on each replica.
   */
  append (stream: string, event: LoggedEvent, holder?: Holder): Promise<void>
  /** The events after the position; `undefined` for a stream that is unknown or has expired. */
  read (stream: string, after: number): Promise<LoggedEvent[] | undefined>
  /** Idempotent. */
  close (): Promise<void>
}

export interface EventLogLimits {
  /** How many events of one stream are kept. */
  readonly maxEvents: number
  /** How long a stream is kept after its last event, in milliseconds. */
  readonly ttlMs: number
  /** The bytes of all streams of this process. Above it the oldest are deleted. 64 MiB by default. */
  readonly maxBytes?: number
}

/** The limits of every backend. */
export const EVENT_LOG_LIMITS: EventLogLimits = { maxEvents: 1000, ttlMs: 600_000 }

interface LocalEventLogOptions extends EventLogLimits {
  readonly now?: () => number
}

/** The events of a single process are in its heap, and may have an eighth of it. */
const HEAP_DIVISOR = 8

/** Creates the log of a single process. */
export function createLocalEventLog (options: LocalEventLogOptions): EventLog {
  const { maxEvents, ttlMs, now = clock.now } = options
  const maxBytes = withinHeap(options.maxBytes ?? LIMITS.loggedBytes.max, HEAP_DIVISOR)
  const streams = new Map<string, LoggedEvent[]>()
  const room = createLogRoom({ maxEvents, ttlMs, maxBytes, now })
  const timer = timers.setInterval(() => drop(room.expire()), ttlMs).unref()

  function drop (names: readonly string[]): void {
    for (const stream of names) streams.delete(stream)
  }

  return {
    async append (stream, event, holder) {
      const events = streams.get(stream) ?? []
      events.push(event)
      if (events.length > maxEvents) events.shift()
      const { excess, expired } = room.add(stream, event.text.length, holder)
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
