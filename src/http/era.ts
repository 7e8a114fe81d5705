import type { FastifyReply, FastifyRequest } from 'fastify'

/** One way to speak the protocol on the endpoint. The eras look at each request in turn. */
export interface Era {
  /** Whether the request is its own. Cheap: it is asked for each. */
  takes (request: FastifyRequest): boolean
  /** Answers a request that it takes: a POST, a GET or a DELETE. */
  serve (request: FastifyRequest, reply: FastifyReply): void
  /** Ends the streams that would go on for ever: their clients come back, to another replica. */
  endStreams (): void
  /** After the last request. */
  close (): Promise<void>
}
