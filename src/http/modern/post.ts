// Serves a POST: reads its message, checks it, and passes it to the pipeline.

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Pipeline } from '../../dispatch/pipeline.ts'
import { isRequest, readMessage } from '../../protocol/json-rpc.ts'
import type { Replies } from '../replies.ts'
import { admit, ModernCaller } from './admission.ts'
import { ModernOutlet } from './outlet.ts'

export interface ModernPostDependencies {
  readonly pipeline: Pipeline
  readonly replies: Replies
}

export function createModernPost (
  { pipeline, replies }: ModernPostDependencies
): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    let method: string | undefined
    try {
      const message = readMessage(request.body)
      if (!isRequest(message)) return replies.accept(request, reply)
      method = pipeline.has(message.method) ? message.method : undefined
      const envelope = admit(message, request.headers)
      pipeline.serve(message, new ModernCaller(request, envelope), new ModernOutlet(reply, message.id))
    } catch (error) {
      replies.refuse(error, request, reply, method)
    }
  }
}
