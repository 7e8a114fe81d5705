// The rest of a call's stream, for a client that was cut off from it: what was logged, and what is still to
// come.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery

import type { EventLog, LoggedEvent } from '../../events/event-log.ts'
import { END, toEventId, type StreamPosition } from '../../legacy/call-streams.ts'
import type { SessionRelay } from '../../legacy/session-relay.ts'
import { replicaLost } from '../../protocol/errors.ts'
import { isObject, isRequestId, toErrorResponse, type RequestId } from '../../protocol/json-rpc.ts'
import type { EventStream } from '../event-stream.ts'

export interface ResumedStreamDependencies {
  readonly eventLog: EventLog
  readonly relay: SessionRelay
  onError (error: unknown): void
}

/** Whoever serves the call is asked for a sign of life so often, in milliseconds. */
const ASK_EVERY_MS = 2000
/** After so many questions in vain nobody serves it any more. */
const MAX_UNANSWERED = 3

/**
 * `undefined` where nothing is known of the stream, or nothing any more; `over` where the client has had all
 * of it. Otherwise to be called with the stream to write to.
 */
export async function findStream (
  { stream, position }: StreamPosition, { eventLog, relay, onError }: ResumedStreamDependencies
): Promise<((sink: EventStream) => void) | 'over' | undefined> {
  const logged = await eventLog.read(stream, 0)
  if (logged === undefined) return undefined
  if (
    logged.at(-1)?.text === END && logged.every((event) => event.position <= position || event.text === END)
  ) {
    return 'over'
  }
  return (sink) => {
    const open = new Set<RequestId>()
    let last = 0
    let unanswered = 0
    let reading: Promise<void> | undefined
    let isStale = false

    function take (events: readonly LoggedEvent[]): void {
      for (const event of events) {
        if (event.position <= last) continue
        last = event.position
        if (event.text === END) sink.end()
        else if (event.text.startsWith('[')) for (const id of readIds(event.text)) open.add(id)
        else deliver(event)
      }
    }

    function deliver ({ position: at, text }: LoggedEvent): void {
      const message: unknown = JSON.parse(text)
      if (isObject(message) && !('method' in message) && isRequestId(message.id)) open.delete(message.id)
      if (at > position) sink.send(text, toEventId({ stream, position: at }))
    }

    /** One reading at a time; what is told of meanwhile is read by another one. */
    function readOn (): void {
      isStale = true
      reading ??= (async () => {
        while (isStale) {
          isStale = false
          take(await eventLog.read(stream, last) ?? [])
        }
      })().catch(onError).finally(() => { reading = undefined })
    }

    /** In place of whoever is gone: a client that comes back once more is told the same. */
    function giveUp (): void {
      for (const text of [...[...open].map((id) => toErrorResponse(id, replicaLost())), END]) {
        const event = { position: last + 1, text }
        eventLog.append(stream, event).catch(onError)
        take([event])
      }
    }

    function ask (): void {
      if (unanswered >= MAX_UNANSWERED) return giveUp()
      // What could not be asked is no question in vain.
      relay.send({ type: 'stream-followed', stream }).then(() => { unanswered++ }, onError)
      readOn()
    }

    const stopListening = relay.listen((message) => {
      if (message.type !== 'stream-written' || message.stream !== stream) return
      unanswered = 0
      readOn()
    })
    const timer = setInterval(ask, ASK_EVERY_MS)
    sink.once('close', () => {
      stopListening()
      clearInterval(timer)
    })
    take(logged)
    ask()
  }
}

function readIds (text: string): RequestId[] {
  const ids: unknown = JSON.parse(text)
  return Array.isArray(ids) ? ids.filter(isRequestId) : []
}
