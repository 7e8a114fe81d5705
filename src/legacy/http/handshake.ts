// Serves `initialize`, the first request of a legacy client. The answer's header has the new session.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization

import type { FastifyReply, FastifyRequest } from 'fastify'
import { checkAccept } from '../../http/accept.ts'
import type { AnswerDependencies } from '../../http/answer-dependencies.ts'
import { ModernOutlet } from '../../http/modern/outlet.ts'
import { invalidRequest } from '../../protocol/errors.ts'
import { isRequest, readMessage } from '../../protocol/json-rpc.ts'
import { negotiate } from '../../protocol/legacy-revisions.ts'
import type { Pipeline } from '../../request/pipeline/pipeline.ts'
import { HandshakeCaller } from '../sessions/session-caller.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { SESSION_HEADER } from './admission.ts'

interface HandshakeDependencies extends AnswerDependencies {
  readonly pipeline: Pipeline
  readonly sessions: Sessions
}

export function createHandshake (
  dependencies: HandshakeDependencies
): (request: FastifyRequest, reply: FastifyReply) => void {
  const { pipeline, sessions } = dependencies
  return (request, reply) => {
    checkAccept(request.headers.accept)
    const message = readMessage(request.body)
    if (!isRequest(message)) throw invalidRequest('initialize is a request: it has an id')
    // The method refuses a version that is not a string.
    const version = message.params?.protocolVersion
    const revision = negotiate(typeof version === 'string' ? version : '')
    const caller = new HandshakeCaller(request, revision, (negotiated) => {
      reply.header(SESSION_HEADER, sessions.create(negotiated, request))
    })
    // LegacyOutlet needs a session, which does not exist yet. The JSON of the answer is the same.
    pipeline.serve(message, caller, new ModernOutlet(reply, message.id, dependencies))
  }
}
