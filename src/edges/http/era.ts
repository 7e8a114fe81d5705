// What the adapters of both eras have in common.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { OpenStreams } from '../../platform/limits/open-streams.ts'
import type { WaitingBytes } from '../../platform/limits/waiting-bytes.ts'
import type { KeepAlive } from './event-stream.ts'

/** The HTTP adapter of one era. The endpoint asks the adapters in turn. */
export interface Era {
  /** The HTTP methods that the era can serve. */
  readonly methods: readonly string[]
  /** Whether the request belongs to this era. Cheap, because it runs for each request. */
  mayServe (request: FastifyRequest): boolean
  /** Answers a request for which `mayServe` is true: a POST, a GET or a DELETE. */
  serve (request: FastifyRequest, reply: FastifyReply): void
  /** Ends the streams that have no end of their own. Their clients reconnect to another replica. */
  endStreams (): void
  /** To be called after the last request. */
  close (): Promise<void>
}

/** What the answers of both eras share. */
export interface AnswerDependencies {
  readonly waitingBytes: WaitingBytes
  readonly openStreams: OpenStreams
  readonly keepAlive: KeepAlive
}
