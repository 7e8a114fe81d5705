import type { EventStream } from '../event-stream.ts'

export interface KeepAlive {
  /** Until it closes, the stream shows now and then that it is alive. */
  add (stream: EventStream): void
  close (): void
}

/** One timer for all streams. */
export function createKeepAlive (everyMs: number): KeepAlive {
  const streams = new Set<EventStream>()
  const timer = setInterval(() => {
    for (const stream of streams) if (!stream.isBlocked) stream.keepAlive()
  }, everyMs).unref()
  return {
    add (stream) {
      streams.add(stream)
      stream.onClose = () => streams.delete(stream)
    },
    close () { clearInterval(timer) }
  }
}
