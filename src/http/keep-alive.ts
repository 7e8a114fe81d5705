import type { EventStream } from './event-stream.ts'

export interface KeepAlive {
  /** Sends keep-alive comments on the stream until it closes. */
  add (stream: EventStream): void
  /** As `add`, for the resumed stream of a call: its client can reconnect to another replica. */
  addResumed (stream: EventStream): void
  /** Ends the resumed streams. */
  endResumed (): void
  close (): void
}

/** One timer serves all streams. */
export function createKeepAlive (everyMs: number): KeepAlive {
  const streams = new Set<EventStream>()
  const resumed = new Set<EventStream>()
  const add = (stream: EventStream, own: Set<EventStream>) => {
    streams.add(stream)
    own.add(stream)
    stream.onClose(() => {
      streams.delete(stream)
      own.delete(stream)
    })
  }
  const timer = setInterval(() => {
    for (const stream of streams) if (!stream.isBlocked) stream.keepAlive()
  }, everyMs).unref()
  return {
    add: (stream) => add(stream, streams),
    addResumed: (stream) => add(stream, resumed),
    endResumed () { for (const stream of resumed) stream.end() },
    close () { clearInterval(timer) }
  }
}
