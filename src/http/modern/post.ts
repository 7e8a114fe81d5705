// Serves a POST: reads its message, checks it, and passes it to the pipeline.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { isRequest, readMessage } from '../../protocol/json-rpc.ts'
import type { Pipeline } from '../../request/pipeline/pipeline.ts'
import type { AnswerDependencies } from '../era.ts'
import type { Replies } from '../replies.ts'
import { admit, ModernCaller } from './admission.ts'
import { ModernOutlet } from './outlet.ts'

export interface ModernPostDependencies extends AnswerDependencies {
  readonly pipeline: Pipeline
  readonly replies: Replies
}

export function createModernPost (
  dependencies: ModernPostDependencies
): (request: FastifyRequest, reply: FastifyReply) => void {
  const { pipeline, replies } = dependencies
  return (request, reply) => {
    let method: string | undefined
    try {
      const message = readMessage(request.body)
      if (!isRequest(message)) return replies.accept(request, reply)
      method = pipeline.has(message.method) ? message.method : undefined
      const envelope = admit(message, request.headers)
      const outlet = new ModernOutlet(reply, message.id, dependencies)
      pipeline.serve(message, new ModernCaller(request, envelope), outlet)
    } catch (error) {
      replies.refuse(error, request, reply, method)
    }
  }
}
