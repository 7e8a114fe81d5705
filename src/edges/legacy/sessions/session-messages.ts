// The messages that replicas send each other about sessions.

import { LOG_LEVELS } from '../../../platform/protocol/log-levels.ts'
import { createReader } from '../../../platform/schema/reader.ts'
import { Type, type Members, type Static } from '../../../platform/schema/type.ts'
import type { Broadcast, ReplicaMessage } from '../../../platform/store/changes/broadcast.ts'
import { createLocalListeners } from '../../../platform/store/changes/local-listeners.ts'

const session = Type.String()
const stream = Type.String()
const question = { session, request: Type.String() }
const settings = Type.Object({
  /** Grows with each change. */
  version: Type.Number(),
  logLevel: Type.Optional(Type.Enum([...LOG_LEVELS])),
  /** The resources that the client follows. */
  uris: Type.Array(Type.String())
})

/** What a client has set in its session. */
export type SessionSettingsRecord = Static<typeof settings>

/** The readers of the messages, by type. */
const READERS = {
  'session-ended': createMessageReader('session-ended', { session, expiresAt: Type.Number() }),
  'session-changed': createMessageReader('session-changed', { session, settings }),
  /** A replica opened a session's stream, at a time of the shared clock. The session's older streams end. */
  'stream-opened': createMessageReader('stream-opened', { session, openedAt: Type.Number() }),
  'call-cancelled': createMessageReader('call-cancelled', {
    session, request: Type.Union([Type.String(), Type.Number()])
  }),
  /** A client answered a request of the service. */
  answered: createMessageReader('answered', { ...question, response: Type.Unknown() }),
  /** A replica has a large answer, which it sends once the replica that waits for it says so. */
  'answer-offered': createMessageReader('answer-offered', question),
  'answer-wanted': createMessageReader('answer-wanted', question),
  /** The replica that waited for an answer has received it. */
  'answer-taken': createMessageReader('answer-taken', question),
  /** A replica reads the logged events of a call's stream for a client. */
  'stream-followed': createMessageReader('stream-followed', { stream }),
  /** A call's stream has new logged events, or is still being served. */
  'stream-written': createMessageReader('stream-written', { stream })
}

type MessageType = keyof typeof READERS

export type SessionMessage = ReturnType<typeof READERS[MessageType]>

/** Messages are checked because the sender may run another release, which may use other members. */
function createMessageReader<T extends string, M extends Members> (type: T, members: M) {
  return createReader(Type.Object({ type: Type.Literal(type), ...members }), (problems) => {
    // Only the names of the members: their values belong to clients and must not reach the log.
    const names = problems.map((problem) => problem.replace(/:.*$/s, '')).join(', ')
    return new TypeError(`a message ${type} of another replica has an unknown shape: ${names}`)
  })
}

/** Sends messages about sessions to every replica, this one included. */
export class SessionMessages {
  readonly #broadcast: Broadcast
  readonly #onError: (error: unknown) => void
  readonly #listeners = createLocalListeners<SessionMessage>()
  readonly #misses = createLocalListeners<undefined>()
  readonly #stopListening: () => void

  /** @param onError called for a message of an unknown shape, and for an error that a listener throws. */
  constructor (broadcast: Broadcast, onError: (error: unknown) => void) {
    this.#broadcast = broadcast
    this.#onError = onError
    this.#stopListening = broadcast.listen(
      (message) => this.#receive(message), () => this.#reportErrors(() => this.#misses.tell(undefined))
    )
  }

  /**
   * Resolves when the listeners of this replica have received the message. Rejects if other replicas may not
   * have received it.
   */
  async send (message: SessionMessage): Promise<void> {
    await this.#broadcast.send(message)
  }

  /**
   * Listens until the returned function is called.
   *
   * @param onMissed called when messages of other replicas may have been lost.
   */
  listen (onMessage: (message: SessionMessage) => void, onMissed = () => {}): () => void {
    const stops = [this.#listeners.add(onMessage), this.#misses.add(onMissed)]
    return () => { for (const stop of stops) stop() }
  }

  /** Ends delivery to the listeners. The broadcast stays open. */
  close (): void {
    this.#stopListening()
    this.#listeners.close()
    this.#misses.close()
  }

  #receive (message: ReplicaMessage): void {
    const { type } = message
    if (isSessionMessageType(type)) this.#reportErrors(() => this.#listeners.tell(READERS[type](message)))
  }

  #reportErrors (work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#onError(error)
    }
  }
}

/** The broadcast also delivers messages that are not about sessions. */
function isSessionMessageType (type: string): type is MessageType {
  return Object.hasOwn(READERS, type)
}
