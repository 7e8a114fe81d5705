// A GET of a session: the stream on which it is told of changes, or the rest of a call's stream that was cut
// off.

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
import { findStream, type ResumedStreamDependencies } from './resumed-stream.ts'
import type { SessionStreams } from './session-stream.ts'

export interface ListenDependencies extends ResumedStreamDependencies {
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
    const goOn = await findStream(position, dependencies)
    if (goOn === undefined) {
      throw invalidRequest('the events after this Last-Event-ID are not kept, or not any more')
    }
    // An empty stream would look like a connection that broke, for which some clients come back, and back.
    if (goOn === 'over') {
      throw invalidRequest('there is nothing after this Last-Event-ID: its stream is over', 405)
    }
    const stream = new EventStream()
    keepAlive.addFollower(stream)
    // A client that is cut off again must know where it was, before there is more.
    if (hasStreamPolling(session.revision)) stream.send('', lastEventId)
    else stream.keepAlive()
    goOn(stream)
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
    stream.onClose((isComplete) => replies.conclude(request, reply, { isCancelled: !isComplete }))
    openEventStream(reply, stream)
  }
}
