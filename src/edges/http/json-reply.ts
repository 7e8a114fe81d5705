// Sends an answer in JSON: a text, also one of megabytes, or one with bytes that are ready, such as a list.

import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { bytesOf, isLarge, requestsTurn } from '../../base/large-text.ts'
import { ReadyResponse } from '../../platform/protocol/json-rpc.ts'
import { JSON_TYPE } from './accept.ts'

/** Fastify would add the charset to each text, which takes 0.3 µs, 1 % of a prompt (Node 20 and 24). */
export const JSON_TEXT_TYPE = `${JSON_TYPE}; charset=utf-8`

export function sendJson (reply: FastifyReply, response: string | ReadyResponse): void {
  reply.header('content-type', typeof response === 'string' ? JSON_TEXT_TYPE : JSON_TYPE)
  if (typeof response !== 'string' && reply.server.hasSendHooks) reply.send(response.toBuffer())
  else if (typeof response !== 'string') sendReady(reply, response)
  else if (isLarge(response)) sendLarge(reply, response)
  else reply.send(response)
}

/**
 * The bytes of a large text are made as the client takes them: Node would make them all at once, which takes
 * 15 ms of CPU for 5 MiB, and keep them until the client has them. To count them takes up to 20 ms for
 * 11 MiB: V8 copies a text that was put together.
 */
async function sendLarge (reply: FastifyReply, json: string): Promise<void> {
  await requestsTurn()
  // Fastify would take the end of a stream to a client that has left for an error of the service.
  if (reply.raw.closed) reply.send('')
  else reply.header('content-length', Buffer.byteLength(json)).send(toStream(json))
}

function toStream (text: string): Readable {
  // Nothing is read ahead of the client.
  return Readable.from(bytesOf(text), { objectMode: false, highWaterMark: 1 })
}

/**
 * Fastify sends one text or one buffer. It gets the ready bytes, and Node's response adds the two texts to
 * them, and to their length. Without the copy of all, a list of 50 tools takes 5 µs less, a seventh of its
 * CPU (quiet laps on Node 20; server and load in one process). Hooks would see a part of the answer: for them
 * it is copied.
 */
function sendReady (reply: FastifyReply, response: ReadyResponse): void {
  const { raw } = reply
  const { head, result, tail } = response
  const { writeHead, end } = raw
  const added = {
    writeHead (status: number, headers: Record<string, unknown>) {
      const isWhole = headers['content-length'] === String(result.length)
      return Reflect.apply(writeHead, raw, [
        status, isWhole ? { ...headers, 'content-length': response.length } : headers
      ])
    },
    end (chunk: unknown, ...options: unknown[]) {
      if (chunk !== result) return Reflect.apply(end, raw, [chunk, ...options])
      const { socket } = raw
      socket?.cork()
      raw.write(head)
      raw.write(result)
      Reflect.apply(end, raw, [tail])
      socket?.uncork()
      return raw
    }
  }
  Object.assign(raw, added)
  reply.send(result)
}
