// A response as Server-Sent Events: one JSON-RPC message per event, on one line.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
// ("Receiving Messages")

import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { createBatches } from '../../base/batches.ts'
import { timers } from '../../base/time.ts'
import type { MessageSink } from '../../platform/store/changes/message-sink.ts'
import { writeWholeChunks } from './whole-chunks.ts'

/** While more than this many bytes wait for the client, notifications of a request are left out. */
const MAX_BUFFERED_BYTES = 1_048_576
const KEEP_ALIVE = Buffer.from(':\n\n')

export class EventStream extends Readable implements MessageSink {
  readonly #onDrain: Array<() => void> = []
  readonly #onClose: Array<(isComplete: boolean) => void> = []
  #ended = false

  constructor () {
    // Nothing is read ahead of the client, so `readableLength` is the number of bytes that wait for it.
    super({ highWaterMark: 1, emitClose: true })
  }

  get isBlocked (): boolean {
    return this.readableLength > 0
  }

  /** Whether so many bytes wait for the client that messages which are not essential should be left out. */
  get isOverfull (): boolean {
    return this.readableLength > MAX_BUFFERED_BYTES
  }

  /** @param id the event's id. A client that reconnects sends the id of the last event that it received. */
  send (json: string, id?: string): void {
    if (!this.#ended) this.push(id === undefined ? `data: ${json}\n\n` : `id: ${id}\ndata: ${json}\n\n`)
  }

  /** Tells the client how long to wait before it reconnects, once the stream has ended. */
  retryAfter (ms: number): void {
    if (!this.#ended) this.push(`retry: ${ms}\n\n`)
  }

  onDrain (listener: () => void): void { this.#onDrain.push(listener) }

  onClose (listener: (isComplete: boolean) => void): void { this.#onClose.push(listener) }

  keepAlive (): void {
    if (!this.#ended) this.push(KEEP_ALIVE)
  }

  end (json?: string): void {
    if (this.#ended) return
    if (json !== undefined) this.send(json)
    this.#ended = true
    this.push(null)
  }

  cut (): void {
    this.#ended = true
    this.destroy()
  }

  /**
   * The client takes the last waiting chunk. `readableLength` still counts this chunk now, and no longer in
   * the microtask.
   */
  override _read (): void {
    if (this.#onDrain.length > 0) queueMicrotask(this.#drained)
  }

  readonly #drained = (): void => {
    if (!this.#ended && !this.isBlocked) for (const listener of this.#onDrain) listener()
  }

  override _destroy (error: Error | null, callback: (error?: Error | null) => void): void {
    this.#ended = true
    this.#onDrain.length = 0
    for (const listener of this.#onClose.splice(0)) listener(this.readableEnded)
    callback(error)
  }
}

const EVENT_STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  // Asks reverse proxies to forward each event without buffering.
  'x-accel-buffering': 'no',
  // The connection closes with its stream: an idle connection would delay a shutdown.
  connection: 'close'
}

/**
 * Answers with the stream. If the client has left, the stream is closed before anything else happens:
 * Fastify would take its end for an error of the service.
 */
export function openEventStream (reply: FastifyReply, stream = new EventStream()): EventStream {
  // Not in this turn: the caller listens for the end of the stream that it gets.
  if (reply.raw.closed) queueMicrotask(() => stream.cut())
  else {
    writeWholeChunks(reply.raw)
    reply.code(200).headers(EVENT_STREAM_HEADERS).send(stream)
  }
  return stream
}

export interface KeepAlive {
  /** Sends keep-alive comments on the stream until it closes. */
  add (stream: EventStream): void
  close (): void
}

/** One timer serves all streams. */
export function createKeepAlive (everyMs: number): KeepAlive {
  const streams = new Set<EventStream>()
  const quiet = createBatches((stream: EventStream) => { if (!stream.isBlocked) stream.keepAlive() })
  const timer = timers.setInterval(() => { for (const stream of streams) quiet.add(stream) }, everyMs).unref()
  return {
    add (stream) {
      streams.add(stream)
      stream.onClose(() => {
        streams.delete(stream)
        quiet.delete(stream)
      })
    },
    close () { timers.clear(timer) }
  }
}
