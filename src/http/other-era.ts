import type { FastifyReply, FastifyRequest } from 'fastify'

/** Another way to speak the protocol on the same endpoint, which looks at each request first. */
export interface OtherEra {
  /** Whether the request is its own. Cheap: it is asked for each. */
  takes (request: FastifyRequest): boolean
  /** Answers a request that it takes: a POST, a GET or a DELETE. */
  serve (request: FastifyRequest, reply: FastifyReply): void
  /** Ends the streams that would go on for ever: their clients come back, to another replica. */
  endStreams (): void
  /** After the last request. */
  close (): Promise<void>
}
