// The rest of a call's stream, for a client whose connection broke: the events that were logged, and then the
// events that follow. Another replica may be serving the call.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery

import type { EventLog, LoggedEvent } from '../../events/event-log.ts'
import { STREAM_END, toEventId, type StreamPosition } from '../../legacy/call-streams.ts'
import type { SessionRelay } from '../../legacy/session-relay.ts'
import { replicaLost } from '../../protocol/errors.ts'
import { isObject, isRequestId, toErrorResponse, type RequestId } from '../../protocol/json-rpc.ts'
import type { EventStream } from '../event-stream.ts'

export interface ResumedStreamDependencies {
  readonly eventLog: EventLog
  readonly relay: SessionRelay
  onError (error: unknown): void
}

/** How often the replica that serves the call is pinged, in milliseconds. */
const PING_EVERY_MS = 2000
/** After this many unanswered pings the replica counts as lost. */
const MAX_UNANSWERED = 3

/**
 * Resolves to `undefined` if the log has no such stream (any more), and to `complete` if the client has
 * received all of its events. Otherwise it resolves to a function that writes the rest to a stream.
 */
export async function findLoggedStream (
  { stream, position }: StreamPosition, { eventLog, relay, onError }: ResumedStreamDependencies
): Promise<((sink: EventStream) => void) | 'complete' | undefined> {
  const logged = await eventLog.read(stream, 0)
  if (logged === undefined) return undefined
  const isReceived = (event: LoggedEvent) => event.position <= position || event.text === STREAM_END
  if (logged.at(-1)?.text === STREAM_END && logged.every(isReceived)) return 'complete'
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
        if (event.text === STREAM_END) sink.end()
        else if (event.text.startsWith('[')) for (const id of readIds(event.text)) open.add(id)
        else deliver(event)
      }
    }

    function deliver ({ position: at, text }: LoggedEvent): void {
      const message: unknown = JSON.parse(text)
      if (isObject(message) && !('method' in message) && isRequestId(message.id)) open.delete(message.id)
      if (at > position) sink.send(text, toEventId({ stream, position: at }))
    }

    /** One read at a time. A call during a read starts another read afterwards. */
    function readOn (): void {
      isStale = true
      reading ??= (async () => {
        while (isStale) {
          isStale = false
          take(await eventLog.read(stream, last) ?? [])
        }
      })().catch(onError).finally(() => { reading = undefined })
    }

    /**
     * Ends the stream in place of the lost replica, with an error for each open request. The log keeps the
     * errors, so that a client that reconnects again gets the same errors.
     */
    function endLost (): void {
      for (const text of [...[...open].map((id) => toErrorResponse(id, replicaLost())), STREAM_END]) {
        const event = { position: last + 1, text }
        eventLog.append(stream, event).catch(onError)
        take([event])
      }
    }

    function ping (): void {
      if (unanswered >= MAX_UNANSWERED) return endLost()
      // A ping that could not be sent does not count as unanswered.
      relay.send({ type: 'stream-followed', stream }).then(() => { unanswered++ }, onError)
      readOn()
    }

    const stopListening = relay.listen((message) => {
      if (message.type !== 'stream-written' || message.stream !== stream) return
      unanswered = 0
      readOn()
    })
    const timer = setInterval(ping, PING_EVERY_MS)
    sink.once('close', () => {
      stopListening()
      clearInterval(timer)
    })
    take(logged)
    ping()
  }
}

function readIds (text: string): RequestId[] {
  const ids: unknown = JSON.parse(text)
  return Array.isArray(ids) ? ids.filter(isRequestId) : []
}
