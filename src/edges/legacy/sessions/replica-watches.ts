// Finds out whether the replica that serves a call's stream is lost, while clients resume the stream. A watch
// goes on when its client leaves: clients reconnect often, and must not begin to wait again each time.

import { type Timer, timers } from '../../../base/time.ts'
import { replicaLost } from '../../../platform/protocol/errors.ts'
import {
  isObject, isRequestId, toErrorResponse, type RequestId
} from '../../../platform/protocol/json-rpc.ts'
import type { EventLog, LoggedEvent } from '../../../platform/store/changes/event-log.ts'
import { STREAM_END } from './call-streams.ts'
import type { SessionMessages } from './session-messages.ts'

interface ReplicaWatchesDependencies {
  readonly eventLog: EventLog
  readonly messages: SessionMessages
  onError (error: unknown): void
  /** How often the replica is pinged, in milliseconds. 2000 by default. */
  readonly pingEveryMs?: number
}

export interface ReplicaWatches {
  /**
   * Watches until the returned function is called, and then until the replica is heard or counts as lost.
   * The log of a lost replica's stream gets an error for each open request, and its end.
   * @param onPing called at each ping: messages of the replica may have been lost
   */
  follow (stream: string, onPing: () => void): () => void
  close (): void
}

interface Watch {
  unanswered: number
  isEnding: boolean
  onPing: (() => void) | undefined
  readonly timer: Timer
}

const PING_EVERY_MS = 2000
/** After this many unanswered pings the replica counts as lost. */
const MAX_UNANSWERED = 3
/** More watches than this stop when their clients leave. */
const MAX_WATCHES = 10_000

export function createReplicaWatches (
  { eventLog, messages, onError, pingEveryMs = PING_EVERY_MS }: ReplicaWatchesDependencies
): ReplicaWatches {
  const watches = new Map<string, Watch>()
  const stopListening = messages.listen((message) => {
    if (message.type === 'stream-written') hear(message.stream)
  })

  function stop (stream: string, watch: Watch): void {
    timers.clear(watch.timer)
    if (watches.get(stream) === watch) watches.delete(stream)
  }

  /** The replica has logged an event, or has answered a ping. */
  function hear (stream: string): void {
    const watch = watches.get(stream)
    if (watch === undefined) return
    watch.unanswered = 0
    if (watch.onPing === undefined) stop(stream, watch)
  }

  function begin (stream: string): Watch {
    const timer = timers.setInterval(() => ping(stream, watch), pingEveryMs)
    const watch: Watch = { unanswered: 0, isEnding: false, onPing: undefined, timer }
    watches.set(stream, watch)
    return watch
  }

  function ping (stream: string, watch: Watch): void {
    if (watch.unanswered >= MAX_UNANSWERED) endLost(stream, watch)
    // A ping that could not be sent does not count as unanswered.
    messages.send({ type: 'stream-followed', stream }).then(() => { watch.unanswered++ }, onError)
    watch.onPing?.()
  }

  /** Tried again at the next ping if the log cannot be reached. */
  function endLost (stream: string, watch: Watch): void {
    if (watch.isEnding) return
    watch.isEnding = true
    logEnd(eventLog, stream).then(async () => {
      stop(stream, watch)
      // Followers of the stream, on every replica, read the log.
      await messages.send({ type: 'stream-written', stream })
    }).catch(onError).finally(() => { watch.isEnding = false })
  }

  return {
    follow (stream, onPing) {
      const isNew = !watches.has(stream)
      const watch = watches.get(stream) ?? begin(stream)
      watch.onPing = onPing
      if (isNew) ping(stream, watch)
      return () => {
        if (watch.onPing !== onPing) return
        watch.onPing = undefined
        if (watch.unanswered === 0 || watches.size > MAX_WATCHES) stop(stream, watch)
      }
    },
    close () {
      stopListening()
      for (const [stream, watch] of watches) stop(stream, watch)
    }
  }
}

/**
 * Logs the end of a stream in place of the replica that served it. The log keeps the errors, so that a client
 * that reconnects again gets the same ones. Replicas that do this at once log the same events.
 */
async function logEnd (eventLog: EventLog, stream: string): Promise<void> {
  const logged = await eventLog.read(stream, 0) ?? []
  const last = logged.at(-1)
  if (last === undefined || last.text === STREAM_END) return
  const errors = [...findOpenRequests(logged)].map((id) => toErrorResponse(id, replicaLost()))
  for (const [index, text] of [...errors, STREAM_END].entries()) {
    await eventLog.append(stream, { position: last.position + 1 + index, text })
  }
}

/** The requests without an answer. */
function findOpenRequests (logged: readonly LoggedEvent[]): Set<RequestId> {
  const open = new Set<RequestId>()
  for (const { text } of logged) {
    const message: unknown = JSON.parse(text)
    if (Array.isArray(message)) for (const id of message.filter(isRequestId)) open.add(id)
    else if (isObject(message) && !('method' in message) && isRequestId(message.id)) open.delete(message.id)
  }
  return open
}
