// Serves a POST without a session: some clients do not send the session id that `initialize` gave them. What
// needs no session is answered, and nothing is kept.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { readAccept } from '../../http/accept.ts'
import type { AnswerDependencies } from '../../http/era.ts'
import { ModernOutlet } from '../../http/modern/outlet.ts'
import type { Replies } from '../../http/replies.ts'
import type { ProtocolError } from '../../../platform/protocol/errors.ts'
import { isObject, isRequest, isResponse, readMessage } from '../../../platform/protocol/json-rpc.ts'
import type { Pipeline } from '../../../request/pipeline/pipeline.ts'
import { SessionlessCaller, sessionRequired } from '../sessions/session-caller.ts'
import { toLegacyError } from './outlet.ts'

interface SessionlessPostDependencies extends AnswerDependencies {
  readonly pipeline: Pipeline
  readonly replies: Replies
}

/** A client that leaves stops its request: it has no session in which it could read the answer. */
class SessionlessOutlet extends ModernOutlet {
  override fail (error: ProtocolError): void { super.fail(toLegacyError(error)) }
}

export function createSessionlessPost (
  dependencies: SessionlessPostDependencies
): (revision: string, request: FastifyRequest, reply: FastifyReply) => void {
  const { pipeline, replies } = dependencies
  return (revision, request, reply) => {
    const { body } = request
    const takesStream = readAccept(request.headers.accept)
    if (Array.isArray(body) || (isObject(body) && isResponse(body))) throw sessionRequired()
    const message = readMessage(body)
    if (!isRequest(message)) return replies.accept(request, reply)
    const caller = new SessionlessCaller(request, revision, message.params)
    pipeline.serve(message, caller, new SessionlessOutlet(reply, message.id, dependencies, takesStream))
  }
}
