// The rest of a call's stream, for a client whose connection broke: the events that were logged, and then the
// events that follow. Another replica may be serving the call. Resuming a stream again ends the older resumed
// stream: a replica follows each call's stream at most once.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery

import type { TokenWatch } from '../../../platform/access/token-watch.ts'
import { EventStream, type KeepAlive } from '../../http/event-stream.ts'
import type { Sender } from '../../../platform/limits/holder.ts'
import type { OpenStreams } from '../../../platform/limits/open-streams.ts'
import { invalidRequest } from '../../../platform/protocol/errors.ts'
import { hasStreamPolling } from '../../../platform/protocol/revisions.ts'
import type { EventLog, LoggedEvent } from '../../../platform/store/changes/event-log.ts'
import { mayRead, STREAM_END, toEventId, type StreamPosition } from '../sessions/call-streams.ts'
import type { ReplicaWatches } from '../sessions/replica-watches.ts'
import type { SessionMessages } from '../sessions/session-messages.ts'
import type { Session } from '../sessions/session.ts'

interface ResumedStreamsDependencies {
  readonly eventLog: EventLog
  readonly messages: SessionMessages
  readonly watches: ReplicaWatches
  readonly openStreams: OpenStreams
  readonly tokenWatch: TokenWatch
  readonly keepAlive: KeepAlive
  onError (error: unknown): void
}

export interface ResumedStreams {
  /** Rejects with a ProtocolError if no event can follow the position, or if too many streams are open. */
  open (session: Session, sender: Sender, position: StreamPosition): Promise<EventStream>
  /** Ends all streams: their clients can reconnect to another replica. */
  end (): void
  close (): void
}

export function createResumedStreams (dependencies: ResumedStreamsDependencies): ResumedStreams {
  const { eventLog, messages, watches, openStreams, tokenWatch, keepAlive } = dependencies
  const followers = new Map<string, LogFollower>()
  const stopListening = messages.listen((message) => {
    if (message.type === 'stream-written') followers.get(message.stream)?.readOn()
  })

  function start (position: StreamPosition, stream: EventStream, logged: readonly LoggedEvent[]): void {
    const { stream: name } = position
    followers.get(name)?.end()
    const follower = new LogFollower(position, stream, dependencies)
    followers.set(name, follower)
    const stopWatching = watches.follow(name, () => follower.readOn())
    stream.onClose(() => {
      stopWatching()
      if (followers.get(name) === follower) followers.delete(name)
    })
    keepAlive.add(stream)
    follower.take(logged)
  }

  return {
    async open (session, sender, position) {
      if (!followers.has(position.stream)) openStreams.checkRoom(sender)
      const stream = new EventStream()
      // Counted before the log is read: many streams may be resumed at once.
      openStreams.add(stream, sender)
      try {
        const logged = await readLog(eventLog, position, sender)
        // Repeats the last id: the client needs it if the connection breaks again before the next event.
        if (hasStreamPolling(session.revision)) stream.send('', toEventId(position))
        else stream.keepAlive()
        start(position, stream, logged)
        // The call goes on: only this reader loses it.
        tokenWatch.add(sender.principal, stream, () => stream.end())
        return stream
      } catch (error) {
        stream.cut()
        throw error
      }
    },
    end () { for (const follower of [...followers.values()]) follower.end() },
    close: stopListening
  }
}

/** A stream that the sender may not read looks like one that is not kept. */
async function readLog (
  eventLog: EventLog, { stream, position }: StreamPosition, { principal }: Sender
): Promise<LoggedEvent[]> {
  const logged = await eventLog.read(stream, 0)
  if (logged === undefined || !mayRead(principal, logged)) {
    throw invalidRequest('the events after this Last-Event-ID are not kept, or were removed')
  }
  const isReceived = (event: LoggedEvent) => event.position <= position || event.text === STREAM_END
  // No stream is opened: some clients take an empty stream for a broken connection and reconnect for ever.
  if (logged.at(-1)?.text === STREAM_END && logged.every(isReceived)) {
    throw invalidRequest('there are no events after this Last-Event-ID: its stream has ended', 405)
  }
  return logged
}

/** Follows the log of one call's stream, and sends the events after a position to a client. */
class LogFollower {
  readonly #from: StreamPosition
  readonly #sink: EventStream
  readonly #dependencies: ResumedStreamsDependencies
  #last = 0
  #reading: Promise<void> | undefined
  #isStale = false

  constructor (from: StreamPosition, sink: EventStream, dependencies: ResumedStreamsDependencies) {
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
