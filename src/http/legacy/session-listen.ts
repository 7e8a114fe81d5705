// A GET of a session: the stream on which it is told of changes, or the rest of a call's stream that was cut off.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { readEventId } from '../../legacy/call-streams.ts'
import type { Session } from '../../legacy/session.ts'
import type { Subscriptions } from '../../events/subscriptions.ts'
import { invalidRequest, tooManyStreams } from '../../protocol/errors.ts'
import { hasStreamPolling } from '../../protocol/revision-features.ts'
import { EVENT_STREAM_HEADERS, EventStream } from '../event-stream.ts'
import type { KeepAlive } from './keep-alive.ts'
import { findStream, type ResumedStreamParts } from './resumed-stream.ts'
import type { SessionStreams } from './session-stream.ts'

export interface SessionListenParts extends ResumedStreamParts {
  readonly sessionStreams: SessionStreams
  readonly subscriptions: Subscriptions
  readonly keepAlive: KeepAlive
}

export function createSessionListen (parts: SessionListenParts): (session: Session, request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const { sessionStreams, subscriptions, keepAlive } = parts

  async function resume (session: Session, lastEventId: string): Promise<EventStream | undefined> {
    const position = readEventId(lastEventId, session)
    if (position === undefined) return undefined
    const goOn = await findStream(position, parts)
    if (goOn === undefined) throw invalidRequest('the events after this Last-Event-ID are not kept, or not any more')
    // An empty stream would look like a connection that broke, for which some clients come back, and back.
    if (goOn === 'over') throw invalidRequest('there is nothing after this Last-Event-ID: its stream is over', 405)
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
    if (accept !== undefined && !/text\/event-stream|text\/\*|\*\/\*/i.test(accept)) throw invalidRequest('Accept must list text/event-stream', 406)
    const lastEventId = typeof header === 'string' ? header : undefined
    const resumed = lastEventId === undefined ? undefined : await resume(session, lastEventId)
    if (resumed === undefined && subscriptions.isFull && !sessionStreams.has(session)) throw tooManyStreams(subscriptions.size)
    const stream = resumed ?? await sessionStreams.open(session, lastEventId)
    request.mcp.method = 'GET'
    reply.code(200).headers(EVENT_STREAM_HEADERS).send(stream)
  }
}
