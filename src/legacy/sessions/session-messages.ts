// The messages that replicas send each other about sessions.

import { LOG_LEVELS, type LogLevel } from '../../protocol/log-levels.ts'
import { createReader } from '../../schema/reader.ts'
import { Type, type Members } from '../../schema/type.ts'
import type { Broadcast, ReplicaMessage } from '../../store/changes/broadcast.ts'
import { createLocalListeners } from '../../store/changes/local-listeners.ts'

/** What a client has set in its session. */
export interface SessionSettingsRecord {
  /** Grows with each change. */
  readonly version: number
  readonly logLevel?: LogLevel
  /** The resources that the client follows. */
  readonly uris: readonly string[]
}

/** A replica opened a session's stream. Older streams of the same session end. */
export type StreamOpened = {
  readonly type: 'stream-opened'
  readonly session: string
  /** Milliseconds since the epoch, on the clock that all replicas share. */
  readonly openedAt: number
}

/** A client's answer to a request of the service. */
type ClientAnswered = {
  readonly type: 'answered'
  readonly session: string
  readonly request: string
  readonly response: unknown
}

export type SessionMessage =
  | { readonly type: 'session-ended', readonly session: string, readonly expiresAt: number }
  | { readonly type: 'session-changed', readonly session: string, readonly settings: SessionSettingsRecord }
  | StreamOpened
  | { readonly type: 'call-cancelled', readonly session: string, readonly request: string | number }
  | ClientAnswered
  /** A replica has a large answer, which it sends once the replica that waits for it says so. */
  | { readonly type: 'answer-offered', readonly session: string, readonly request: string }
  | { readonly type: 'answer-wanted', readonly session: string, readonly request: string }
  /** The replica that waited for an answer has received it. */
  | { readonly type: 'answer-taken', readonly session: string, readonly request: string }
  /** A replica reads the logged events of a call's stream for a client. */
  | { readonly type: 'stream-followed', readonly stream: string }
  /** A call's stream has new logged events, or is still being served. */
  | { readonly type: 'stream-written', readonly stream: string }

type MessageType = SessionMessage['type']

type MessageOf<T extends MessageType> = Extract<SessionMessage, { readonly type: T }>

type Readers = { readonly [T in MessageType]: (message: unknown) => MessageOf<T> }

const session = Type.String()
const stream = Type.String()
const requestId = Type.Union([Type.String(), Type.Number()])
const settings = Type.Object({
  version: Type.Number(),
  logLevel: Type.Optional(Type.Enum([...LOG_LEVELS])),
  uris: Type.Array(Type.String())
})

const READERS: Readers = {
  'session-ended': createMessageReader('session-ended', { session, expiresAt: Type.Number() }),
  'session-changed': createMessageReader('session-changed', { session, settings }),
  'stream-opened': createMessageReader('stream-opened', { session, openedAt: Type.Number() }),
  'call-cancelled': createMessageReader('call-cancelled', { session, request: requestId }),
  answered: createMessageReader('answered', { session, request: Type.String(), response: Type.Unknown() }),
  'answer-offered': createMessageReader('answer-offered', { session, request: Type.String() }),
  'answer-wanted': createMessageReader('answer-wanted', { session, request: Type.String() }),
  'answer-taken': createMessageReader('answer-taken', { session, request: Type.String() }),
  'stream-followed': createMessageReader('stream-followed', { stream }),
  'stream-written': createMessageReader('stream-written', { stream })
}

/** Messages are checked because the sender may run another release, which may use other members. */
function createMessageReader<T extends MessageType, M extends Members> (type: T, members: M) {
  return createReader(Type.Object({ type: Type.Literal(type), ...members }), (problems) => {
    // Only the names of the members: their values belong to clients and must not reach the log.
    const names = problems.map((problem) => problem.replace(/:.*$/s, '')).join(', ')
    return new TypeError(`a message ${type} of another replica has an unknown shape: ${names}`)
  })
}

/** Sends messages about sessions to every replica, this one included. */
export interface SessionMessages {
  /**
   * Resolves when the listeners of this replica have received the message. Rejects if other replicas may not
   * have received it.
   */
  send (message: SessionMessage): Promise<void>
  /**
   * Listens until the returned function is called.
   *
   * @param onMissed called when messages of other replicas may have been lost.
   */
  listen (onMessage: (message: SessionMessage) => void, onMissed?: () => void): () => void
  /** Ends delivery to the listeners. The broadcast stays open. */
  close (): void
}

/** @param onError called for a message of an unknown shape, and for an error that a listener throws. */
export function createSessionMessages (
  broadcast: Broadcast, onError: (error: unknown) => void
): SessionMessages {
  const listeners = createLocalListeners<SessionMessage>()
  const misses = createLocalListeners<undefined>()

  function receive (message: ReplicaMessage): void {
    const { type } = message
    if (isSessionMessageType(type)) reportErrors(() => listeners.tell(READERS[type](message)))
  }

  function reportErrors (work: () => void): void {
    try {
      work()
    } catch (error) {
      onError(error)
    }
  }

  const stopListening = broadcast.listen(receive, () => reportErrors(() => misses.tell(undefined)))
  return {
    send: async (message) => await broadcast.send(message),
    listen (onMessage, onMissed = () => {}) {
      const stops = [listeners.add(onMessage), misses.add(onMissed)]
      return () => { for (const stop of stops) stop() }
    },
    close () {
      stopListening()
      listeners.close()
      misses.close()
    }
  }
}

/** The broadcast also delivers messages that are not about sessions. */
function isSessionMessageType (type: string): type is MessageType {
  return Object.hasOwn(READERS, type)
}
