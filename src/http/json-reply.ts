// Sends an answer in JSON as one write, also one with bytes that are ready, such as a list.

import type { FastifyReply } from 'fastify'
import { ReadyResponse } from '../protocol/json-rpc.ts'

export function sendJson (reply: FastifyReply, response: string | ReadyResponse): void {
  reply.header('content-type', 'application/json')
  if (typeof response === 'string') reply.send(response)
  else sendReady(reply, response)
}

/**
 * Fastify sends one text or one buffer. It gets the ready bytes, and Node's response adds the two texts to
 * them, and to their length. Without the copy of all, a list of 50 tools takes 5 µs less, a seventh of its
 * CPU (quiet laps on Node 20; server and load in one process).
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
    end (chunk: unknown, ...rest: unknown[]) {
      if (chunk !== result) return Reflect.apply(end, raw, [chunk, ...rest])
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
