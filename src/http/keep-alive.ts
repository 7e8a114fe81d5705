import { timers } from '../base/time.ts'
import type { EventStream } from './event-stream.ts'

export interface KeepAlive {
  /** Sends keep-alive comments on the stream until it closes. */
  add (stream: EventStream): void
  close (): void
}

/** One timer serves all streams. */
export function createKeepAlive (everyMs: number): KeepAlive {
  const streams = new Set<EventStream>()
  const timer = timers.setInterval(() => {
    for (const stream of streams) if (!stream.isBlocked) stream.keepAlive()
  }, everyMs).unref()
  return {
    add (stream) {
      streams.add(stream)
      stream.onClose(() => { streams.delete(stream) })
    },
    close () { timers.clear(timer) }
  }
}
