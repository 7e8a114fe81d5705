// Short answers in plain text.

import type { FastifyReply } from 'fastify'

export function sendText (reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).header('content-type', 'text/plain; charset=utf-8').send(`${text}\n`)
}

/** The one answer for a link that is unknown, damaged or expired, and for that of another caller. */
export function notFound (reply: FastifyReply): FastifyReply {
  return sendText(reply, 404, 'This link does not work. It is not complete, or it has expired.')
}
