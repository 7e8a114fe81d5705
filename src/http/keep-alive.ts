import type { EventStream } from './event-stream.ts'

export interface KeepAlive {
  /** Until it closes, the stream shows now and then that it is alive. */
  add (stream: EventStream): void
  /** As `add`, for a stream that others write and that its client can come back to. */
  addFollower (stream: EventStream): void
  /** Ends the streams that can be come back to. */
  endFollowers (): void
  close (): void
}

/** One timer for all streams. */
export function createKeepAlive (everyMs: number): KeepAlive {
  const streams = new Set<EventStream>()
  const followers = new Set<EventStream>()
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
    addFollower: (stream) => add(stream, followers),
    endFollowers () { for (const stream of followers) stream.end() },
    close () { clearInterval(timer) }
  }
}
