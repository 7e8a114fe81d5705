// Serves a GET of a session: the session's stream of change notifications or, with the Last-Event-ID of a
// call's stream, the rest of that stream.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { checkAcceptStream } from '../../http/accept.ts'
import { openEventStream } from '../../http/event-stream.ts'
import type { Replies } from '../../http/replies.ts'
import { readEventId } from '../sessions/call-streams.ts'
import type { Session } from '../sessions/session.ts'
import type { ResumedStreams } from './resumed-stream.ts'
import type { SessionStreams } from './session-stream.ts'

interface ListenDependencies {
  readonly replies: Replies
  readonly sessionStreams: SessionStreams
  readonly resumedStreams: ResumedStreams
}

export function createListen (
  { replies, sessionStreams, resumedStreams }: ListenDependencies
): (session: Session, request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  return async (session, request, reply) => {
    const { accept, 'last-event-id': header } = request.headers
    checkAcceptStream(accept)
    const lastEventId = typeof header === 'string' ? header : undefined
    const position = lastEventId === undefined ? undefined : readEventId(lastEventId, session)
    const stream = position === undefined
      ? await sessionStreams.open(session, request, lastEventId)
      : await resumedStreams.open(session, request, position)
    stream.onClose((isComplete) => replies.end(request, reply, { isCancelled: !isComplete }))
    openEventStream(reply, stream)
  }
}
