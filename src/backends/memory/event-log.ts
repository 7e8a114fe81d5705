import type { EventLog, EventLogLimits, LoggedEvent } from '../../events/event-log.ts'

interface Stream { readonly events: LoggedEvent[], bytes: number, expiresAt: number }

interface MemoryEventLogOptions extends EventLogLimits {
  /** The limit of all streams together. Above it the oldest streams are dropped. 64 MiB by default. */
  readonly maxBytes?: number
  readonly now?: () => number
}

/** The log of a single process. */
export function createMemoryEventLog (options: MemoryEventLogOptions): EventLog {
  const { maxEvents, ttlMs, maxBytes = 67_108_864, now = Date.now } = options
  // Ordered by the time of the last event.
  const streams = new Map<string, Stream>()
  let bytes = 0
  const timer = setInterval(dropOld, ttlMs).unref()

  function drop (id: string, stream: Stream): void {
    streams.delete(id)
    bytes -= stream.bytes
  }

  function dropOld (): void {
    for (const [id, stream] of streams) {
      if (bytes <= maxBytes && stream.expiresAt > now()) return
      drop(id, stream)
    }
  }

  return {
    async append (id, event) {
      const stream: Stream = streams.get(id) ?? { events: [], bytes: 0, expiresAt: 0 }
      if (streams.has(id)) drop(id, stream)
      stream.events.push(event)
      stream.bytes += event.text.length
      if (stream.events.length > maxEvents) stream.bytes -= stream.events.shift()?.text.length ?? 0
      stream.expiresAt = now() + ttlMs
      streams.set(id, stream)
      bytes += stream.bytes
      dropOld()
    },
    async read (id, after) {
      const stream = streams.get(id)
      if (stream === undefined || stream.expiresAt <= now()) return undefined
      return stream.events.filter(({ position }) => position > after)
    },
    async close () {
      clearInterval(timer)
      streams.clear()
    }
  }
}
