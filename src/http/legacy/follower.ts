// Follows the log of one call's stream, and sends the events after a position to a client.

import type { EventLog, LoggedEvent } from '../../events/event-log.ts'
import { STREAM_END, toEventId, type StreamPosition } from '../../legacy/call-streams.ts'
import type { SessionRelay } from '../../legacy/session-relay.ts'
import { replicaLost } from '../../protocol/errors.ts'
import { isObject, isRequestId, toErrorResponse, type RequestId } from '../../protocol/json-rpc.ts'
import type { EventStream } from '../event-stream.ts'

export interface FollowerDependencies {
  readonly eventLog: EventLog
  readonly relay: SessionRelay
  onError (error: unknown): void
}

/** How often the replica that serves the call is pinged, in milliseconds. */
const PING_EVERY_MS = 2000
/** After this many unanswered pings the replica counts as lost. */
const MAX_UNANSWERED = 3

export class Follower {
  readonly #from: StreamPosition
  readonly #sink: EventStream
  readonly #dependencies: FollowerDependencies
  /** The requests without an answer so far. */
  readonly #open = new Set<RequestId>()
  #last = 0
  #unanswered = 0
  #reading: Promise<void> | undefined
  #isStale = false
  readonly #timer: NodeJS.Timeout

  constructor (from: StreamPosition, sink: EventStream, dependencies: FollowerDependencies) {
    this.#from = from
    this.#sink = sink
    this.#dependencies = dependencies
    this.#timer = setInterval(() => this.#ping(), PING_EVERY_MS)
    sink.onClose(() => clearInterval(this.#timer))
  }

  /** @param logged the events of the log so far. */
  begin (logged: readonly LoggedEvent[]): void {
    this.#take(logged)
    this.#ping()
  }

  /** The replica that serves the call has logged an event, or has answered a ping. */
  hear (): void {
    this.#unanswered = 0
    this.#readOn()
  }

  /** Ends the client's stream. */
  end (): void {
    clearInterval(this.#timer)
    this.#sink.end()
  }

  #take (events: readonly LoggedEvent[]): void {
    for (const event of events) {
      if (event.position <= this.#last) continue
      this.#last = event.position
      if (event.text === STREAM_END) this.end()
      else if (event.text.startsWith('[')) for (const id of readIds(event.text)) this.#open.add(id)
      else this.#deliver(event)
    }
  }

  #deliver ({ position, text }: LoggedEvent): void {
    const message: unknown = JSON.parse(text)
    if (isObject(message) && !('method' in message) && isRequestId(message.id)) this.#open.delete(message.id)
    const { stream, position: received } = this.#from
    if (position > received) this.#sink.send(text, toEventId({ stream, position }))
  }

  /** One read at a time. A call during a read starts another read afterwards. */
  #readOn (): void {
    this.#isStale = true
    this.#reading ??= this.#readWhileStale().catch(this.#dependencies.onError).finally(() => {
      this.#reading = undefined
    })
  }

  async #readWhileStale (): Promise<void> {
    while (this.#isStale) {
      this.#isStale = false
      this.#take(await this.#dependencies.eventLog.read(this.#from.stream, this.#last) ?? [])
    }
  }

  #ping (): void {
    if (this.#unanswered >= MAX_UNANSWERED) return this.#endLost()
    const { relay, onError } = this.#dependencies
    // A ping that could not be sent does not count as unanswered.
    relay.send({ type: 'stream-followed', stream: this.#from.stream }).then(
      () => { this.#unanswered++ }, onError
    )
    this.#readOn()
  }

  /**
   * Ends the stream in place of the lost replica, with an error for each open request. The log keeps the
   * errors, so that a client that reconnects again gets the same errors.
   */
  #endLost (): void {
    const { eventLog, onError } = this.#dependencies
    for (const text of [...[...this.#open].map((id) => toErrorResponse(id, replicaLost())), STREAM_END]) {
      const event = { position: this.#last + 1, text }
      eventLog.append(this.#from.stream, event).catch(onError)
      this.#take([event])
    }
  }
}

function readIds (text: string): RequestId[] {
  const ids: unknown = JSON.parse(text)
  return Array.isArray(ids) ? ids.filter(isRequestId) : []
}
