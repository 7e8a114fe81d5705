// The log of each call's stream. Events have numbered ids, so that a client whose connection broke can read
// the rest from any replica.

import type { Principal } from '../../../platform/access/principal.ts'
import { random } from '../../../base/time.ts'
import { isObject, type RequestId } from '../../../platform/protocol/json-rpc.ts'
import type { EventLog, LoggedEvent } from '../../../platform/store/changes/event-log.ts'
import type { SessionMessages } from './session-messages.ts'
import { holderIn, type Session } from './session.ts'

/** Writes the events of one stream to the log. */
export interface CallStream {
  /** The id of the stream's first event. */
  readonly openingId: string
  /** Logs a message and returns the id of its event. */
  write (json: string): string
  /** Logs the end of the stream. */
  end (): void
}

export interface CallStreams {
  /**
   * @param requests the requests that are answered on the stream.
   * @param principal who sent them.
   */
  create (session: Session, requests: readonly RequestId[], principal: Principal): CallStream
  close (): void
}

/**
 * Marks the end of a stream in the log. The log of a stream is a JSON array (the ids of its requests, and the
 * scopes that they had), then JSON objects (its messages), then this mark. Arrays with the scopes alone are
 * among the messages.
 */
export const STREAM_END = '.'
/** The scopes are logged again after this many events, because the log drops the first events. */
const SCOPES_EVERY = 500

export interface StreamPosition { readonly stream: string, readonly position: number }

const CALL_EVENT_ID = /^c\.([\w-]{16})\.(\d{1,9})$/

/** Returns `undefined` unless the id has the form of an event id of a call's stream. */
export function readEventId (id: string, { id: session }: Session): StreamPosition | undefined {
  const [, name, position] = CALL_EVENT_ID.exec(id) ?? []
  // The stream's name contains the session's id: a session cannot read a stream of another session.
  return name === undefined ? undefined : { stream: toStreamName(session, name), position: Number(position) }
}

export function toEventId ({ stream, position }: StreamPosition): string {
  return `c.${stream.slice(stream.indexOf('.') + 1)}.${position}`
}

/**
 * Whether the principal has all scopes that the requests of a stream had. Their answers may be about what
 * needs those scopes.
 */
export function mayRead ({ scopes }: Principal, logged: readonly LoggedEvent[]): boolean {
  const text = logged.findLast((event) => event.text.startsWith('['))?.text ?? '[]'
  const members: unknown = JSON.parse(text)
  // Streams of an earlier release have no scopes.
  const entry = Array.isArray(members) ? members.find(isObject) : undefined
  return !Array.isArray(entry?.scopes) || entry.scopes.every((scope) => scopes.has(scope))
}

function toStreamName (session: string, name: string): string {
  return `${session}.${name}`
}

export function createCallStreams (
  log: EventLog, messages: SessionMessages, onError: (error: unknown) => void
): CallStreams {
  // A replica that follows a stream gets `stream-written` for each event, and as the reply to each
  // `stream-followed`. The reply proves that the stream is still being served.
  const open = new Map<string, { isFollowed: boolean }>()
  const sendWritten = (stream: string) => { messages.send({ type: 'stream-written', stream }).catch(onError) }
  const stopListening = messages.listen((message) => {
    if (message.type !== 'stream-followed') return
    const state = open.get(message.stream)
    if (state === undefined) return
    state.isFollowed = true
    sendWritten(message.stream)
  })

  return {
    create (session, requests, { scopes }) {
      const holder = holderIn(session)
      const stream = toStreamName(session.id, random.name(12))
      const state = { isFollowed: false }
      let position = 0
      const scopeEvents = scopes.size === 0 ? [] : [{ scopes: [...scopes] }]
      const append = (text: string): string => {
        log.append(stream, { position: ++position, text }, holder).then(
          () => { if (state.isFollowed) sendWritten(stream) }, onError
        )
        return toEventId({ stream, position })
      }
      open.set(stream, state)
      return {
        openingId: append(JSON.stringify([...requests, ...scopeEvents])),
        write (json) {
          if (position % SCOPES_EVERY === 0 && scopeEvents.length > 0) append(JSON.stringify(scopeEvents))
          return append(json)
        },
        end () {
          append(STREAM_END)
          open.delete(stream)
        }
      }
    },
    close: stopListening
  }
}
