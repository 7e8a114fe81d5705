// Answers to requests for paths that the service does not have.

import type { FastifyInstance } from 'fastify'
import type { OriginPolicy } from './origin-policy.ts'
import type { Replies } from './replies.ts'

interface NotFoundDependencies {
  readonly policy: OriginPolicy
  readonly replies: Replies
}

/** Pages of allowed origins may read the answer: without these headers they only see that it failed. */
export function registerNotFound (app: FastifyInstance, { policy, replies }: NotFoundDependencies): void {
  app.setNotFoundHandler((request, reply) => {
    const { origin } = request.headers
    if (origin !== undefined && policy.isAllowedOrigin(origin)) {
      reply.header('access-control-allow-origin', origin).header('vary', 'Origin')
    }
    replies.notFound(request, reply)
  })
}
