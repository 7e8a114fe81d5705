// What replicas tell each other about sessions: the messages, and the relay that carries them.

import { Type, type TProperties } from 'typebox'
import { createLocalListeners } from '../events/local-listeners.ts'
import type { Relay, RelayMessage } from '../events/relay.ts'
import { LOG_LEVELS, type LogLevel } from '../protocol/log-levels.ts'
import { createReader } from '../schema/reader.ts'

/** What a client has set in its session. */
export interface SessionSettingsRecord {
  /** Grows with each change. */
  readonly version: number
  readonly logLevel?: LogLevel
  /** The resources that the client follows. */
  readonly uris: readonly string[]
}

/** The session's changes are told on this stream from now on. Older streams of the session end. */
export type StreamOpened = {
  readonly type: 'stream-opened'
  readonly session: string
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
  /** The replica that waited for an answer has it. */
  | { readonly type: 'answer-taken', readonly session: string, readonly request: string }
  /** A client reads the logged events of a call's stream. */
  | { readonly type: 'stream-followed', readonly stream: string }
  /** A call's stream has further logged events, or is still being served. */
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
  'answer-taken': createMessageReader('answer-taken', { session, request: Type.String() }),
  'stream-followed': createMessageReader('stream-followed', { stream }),
  'stream-written': createMessageReader('stream-written', { stream })
}

/** The sender may run another release, which may know the type in another shape. */
function createMessageReader<T extends MessageType, M extends TProperties> (type: T, members: M) {
  return createReader(Type.Object({ type: Type.Literal(type), ...members }), (problems) => {
    // The names of members alone: their values belong to clients.
    const wrong = problems.map((problem) => problem.replace(/:.*$/s, '')).join(', ')
    return new TypeError(`a message ${type} of another replica has an unknown shape: ${wrong}`)
  })
}

/** Carries the messages of sessions to every replica, this one included. */
export interface SessionRelay {
  /**
   * The listeners of this replica have heard the message. Rejects where other replicas may not have heard it.
   */
  send (message: SessionMessage): Promise<void>
  /**
   * Listens until the returned function is called.
   *
   * @param onMissed called when messages of other replicas may have been lost.
   */
  listen (hear: (message: SessionMessage) => void, onMissed?: () => void): () => void
  /** Ends delivery. The relay stays open. */
  close (): void
}

/** @param onError told of messages in another shape, and of listeners that failed. */
export function createSessionRelay (relay: Relay, onError: (error: unknown) => void): SessionRelay {
  const messages = createLocalListeners<SessionMessage>()
  const misses = createLocalListeners<undefined>()

  function hear (message: RelayMessage): void {
    const { type } = message
    if (isSessionMessageType(type)) guard(() => messages.tell(READERS[type](message)))
  }

  function guard (work: () => void): void {
    try {
      work()
    } catch (error) {
      onError(error)
    }
  }

  const stopListening = relay.listen(hear, () => guard(() => misses.tell(undefined)))
  return {
    send: async (message) => await relay.send(message),
    listen (hear, onMissed = () => {}) {
      const stops = [messages.add(hear), misses.add(onMissed)]
      return () => { for (const stop of stops) stop() }
    },
    close () {
      stopListening()
      messages.close()
      misses.close()
    }
  }
}

/** The relay carries the messages of other parts of the service too. */
function isSessionMessageType (type: string): type is MessageType {
  return Object.hasOwn(READERS, type)
}
