// The count of the open streams of this replica, of every kind, against their limit.

import type { MessageSink } from './message-sink.ts'

export interface OpenStreams {
  readonly size: number
  /** Whether a new stream must be refused. Add the stream in the same turn, before anything is awaited. */
  readonly isFull: boolean
  /** Counts the stream until it closes. */
  add (stream: Pick<MessageSink, 'onClose'>): void
}

export function createOpenStreams (maxStreams: number): OpenStreams {
  let size = 0
  return {
    get size () { return size },
    get isFull () { return size >= maxStreams },
    add (stream) {
      size++
      stream.onClose(() => { size-- })
    }
  }
}
