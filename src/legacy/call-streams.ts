// The streams of calls, as they are numbered and logged: a client that was cut off reads on where it was, on
// any replica.

import { randomBytes } from 'node:crypto'
import type { EventLog } from '../events/event-log.ts'
import type { RequestId } from '../protocol/json-rpc.ts'
import type { SessionRelay } from './session-relay.ts'
import type { Session } from './session.ts'

/** Where the events of one stream are kept, and how the client names them. */
export interface CallStream {
  /** The id of the event that the stream begins with. */
  readonly openingId: string
  /** Logs a message, and gives the id of its event. */
  write (json: string): string
  /** There is nothing more to come. */
  end (): void
}

export interface CallStreams {
  /** @param requests whose answers the stream carries. */
  create (session: Session, requests: readonly RequestId[]): CallStream
  close (): void
}

/**
 * Beside messages, which are objects in JSON, the log has what a stream begins with, an array, and its end.
 */
export const END = '.'

export interface StreamPosition { readonly stream: string, readonly position: number }

const EVENT_ID = /^c\.([\w-]{16})\.(\d{1,9})$/

/** `undefined` for what names no event of a call's stream. */
export function readEventId (id: string, { id: session }: Session): StreamPosition | undefined {
  const [, name, position] = EVENT_ID.exec(id) ?? []
  // A stream is looked for among those of the session alone.
  return name === undefined ? undefined : { stream: toStreamName(session, name), position: Number(position) }
}

export function toEventId ({ stream, position }: StreamPosition): string {
  return `c.${stream.slice(stream.indexOf('.') + 1)}.${position}`
}

function toStreamName (session: string, name: string): string {
  return `${session}.${name}`
}

export function createCallStreams (
  log: EventLog, relay: SessionRelay, onError: (error: unknown) => void
): CallStreams {
  // Who reads a stream where it was logged is told of each event, and that it is still being served.
  const open = new Map<string, { isFollowed: boolean }>()
  const tell = (stream: string) => { relay.send({ type: 'stream-written', stream }).catch(onError) }
  const stopListening = relay.listen((message) => {
    if (message.type !== 'stream-followed') return
    const known = open.get(message.stream)
    if (known === undefined) return
    known.isFollowed = true
    tell(message.stream)
  })

  return {
    create ({ id }, requests) {
      const stream = toStreamName(id, randomBytes(12).toString('base64url'))
      const state = { isFollowed: false }
      let position = 0
      const append = (text: string) => {
        log.append(stream, { position: ++position, text }).then(
          () => { if (state.isFollowed) tell(stream) }, onError
        )
        return toEventId({ stream, position })
      }
      open.set(stream, state)
      return {
        openingId: append(JSON.stringify(requests)),
        write: append,
        end () {
          append(END)
          open.delete(stream)
        }
      }
    },
    close: stopListening
  }
}
