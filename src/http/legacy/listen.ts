// Serves a GET of a session: the session's stream of change notifications or, with the Last-Event-ID of a
// call's stream, the rest of that stream.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { readEventId } from '../../legacy/call-streams.ts'
import type { Session } from '../../legacy/session.ts'
import type { Subscriptions } from '../../events/subscriptions.ts'
import { invalidRequest, tooManyStreams } from '../../protocol/errors.ts'
import { hasStreamPolling } from '../../protocol/revision-features.ts'
import { checkAcceptStream } from '../accept.ts'
import { EventStream, openEventStream } from '../event-stream.ts'
import type { KeepAlive } from '../keep-alive.ts'
import type { Replies } from '../replies.ts'
import { findLoggedStream, type ResumedStreamDependencies } from './resumed-stream.ts'
import type { SessionStreams } from './session-stream.ts'

interface ListenDependencies extends ResumedStreamDependencies {
  readonly replies: Replies
  readonly sessionStreams: SessionStreams
  readonly subscriptions: Subscriptions
  readonly keepAlive: KeepAlive
}

export function createListen (
  dependencies: ListenDependencies
): (session: Session, request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const { replies, sessionStreams, subscriptions, keepAlive } = dependencies

  async function resume (session: Session, lastEventId: string): Promise<EventStream | undefined> {
    const position = readEventId(lastEventId, session)
    if (position === undefined) return undefined
    const writeRest = await findLoggedStream(position, dependencies)
    if (writeRest === undefined) {
      throw invalidRequest('the events after this Last-Event-ID are not kept, or were removed')
    }
    // No stream is opened: some clients take an empty stream for a broken connection and reconnect for ever.
    if (writeRest === 'complete') {
      throw invalidRequest('there are no events after this Last-Event-ID: its stream has ended', 405)
    }
    const stream = new EventStream()
    keepAlive.addResumed(stream)
    // Repeats the last id: the client needs it if the connection breaks again before the next event.
    if (hasStreamPolling(session.revision)) stream.send('', lastEventId)
    else stream.keepAlive()
    writeRest(stream)
    return stream
  }

  return async (session, request, reply) => {
    const { accept, 'last-event-id': header } = request.headers
    checkAcceptStream(accept)
    const lastEventId = typeof header === 'string' ? header : undefined
    const resumed = lastEventId === undefined ? undefined : await resume(session, lastEventId)
    if (resumed === undefined && subscriptions.isFull && !sessionStreams.has(session)) {
      throw tooManyStreams(subscriptions.size)
    }
    const stream = resumed ?? await sessionStreams.open(session, lastEventId)
    stream.onClose((isComplete) => replies.end(request, reply, { isCancelled: !isComplete }))
    openEventStream(reply, stream)
  }
}
