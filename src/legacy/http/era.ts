// The HTTP adapter of the legacy era: a handshake begins a session, and further requests belong to it.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Era } from '../../http/era.ts'
import type { Replies } from '../../http/replies.ts'
import type { EndedSessions } from '../sessions/ended-sessions.ts'
import type { SessionSettings } from '../sessions/session-settings.ts'
import type { Session } from '../sessions/session.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { isHandshake, isLegacy, openSession } from './admission.ts'

interface LegacyEraDependencies {
  readonly sessions: Sessions
  readonly ended: EndedSessions
  readonly settings: SessionSettings
  readonly replies: Replies
  /** Serves a POST of `initialize`. */
  handshake (request: FastifyRequest, reply: FastifyReply): void
  /** Serves a POST of a session. */
  post (session: Session, request: FastifyRequest, reply: FastifyReply): void
  /** Serves a GET of a session: opens or resumes a stream. */
  listen (session: Session, request: FastifyRequest, reply: FastifyReply): Promise<void>
  endStreams (): void
  close (): Promise<void>
}

export function createLegacyEra (dependencies: LegacyEraDependencies): Era {
  const { sessions, ended, settings, replies, handshake, post, listen, endStreams, close } = dependencies

  async function end (session: Session, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await ended.add(session)
    await settings.delete(session)
    reply.code(204).send()
    replies.end(request, reply)
  }

  function serve (request: FastifyRequest, reply: FastifyReply): void | Promise<void> {
    if (request.method === 'POST' && isHandshake(request.body)) return handshake(request, reply)
    const session = openSession(sessions, request)
    switch (request.method) {
      case 'POST': return post(session, request, reply)
      case 'GET': return listen(session, request, reply)
      default: return end(session, request, reply)
    }
  }

  return {
    methods: ['GET', 'POST', 'DELETE'],
    mayServe: isLegacy,
    serve (request, reply) {
      try {
        serve(request, reply)?.catch((error: unknown) => replies.refuse(error, request, reply))
      } catch (error) {
        replies.refuse(error, request, reply)
      }
    },
    endStreams,
    close
  }
}
