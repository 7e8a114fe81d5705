// Follows the log of one call's stream, and sends the events after a position to a client.

import type { EventStream } from '../../http/event-stream.ts'
import type { EventLog, LoggedEvent } from '../../store/changes/event-log.ts'
import { STREAM_END, toEventId, type StreamPosition } from '../sessions/call-streams.ts'

export interface FollowerDependencies {
  readonly eventLog: EventLog
  onError (error: unknown): void
}

export class Follower {
  readonly #from: StreamPosition
  readonly #sink: EventStream
  readonly #dependencies: FollowerDependencies
  #last = 0
  #reading: Promise<void> | undefined
  #isStale = false

  constructor (from: StreamPosition, sink: EventStream, dependencies: FollowerDependencies) {
    this.#from = from
    this.#sink = sink
    this.#dependencies = dependencies
  }

  /** Sends the given events that were not sent yet. */
  take (events: readonly LoggedEvent[]): void {
    const { stream, position: received } = this.#from
    for (const { position, text } of events) {
      if (position <= this.#last) continue
      this.#last = position
      if (text === STREAM_END) this.end()
      // A list has the ids of the stream's requests, and is no message.
      else if (!text.startsWith('[') && position > received) {
        this.#sink.send(text, toEventId({ stream, position }))
      }
    }
  }

  /** Sends the new events of the log. One read at a time: a call during a read starts another afterwards. */
  readOn (): void {
    this.#isStale = true
    this.#reading ??= this.#readWhileStale().catch(this.#dependencies.onError).finally(() => {
      this.#reading = undefined
    })
  }

  /** Ends the client's stream. */
  end (): void {
    this.#sink.end()
  }

  async #readWhileStale (): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      this.take(await this.#dependencies.eventLog.read(this.#from.stream, this.#last) ?? [])
    }
  }
}
