// The routes of large files: downloads, and the pages of uploads. What serves them is imported at the first
// request.

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticator } from '../../platform/access/authentication.ts'
import { ANONYMOUS } from '../../platform/access/principal.ts'
import { fileOwnerOf } from '../../features/files/accounts.ts'
import type { FileServer } from '../../features/files/file-server.ts'
import type { CallLimiter } from '../../platform/limits/call-limiter.ts'
import type { OpenStreams } from '../../platform/limits/open-streams.ts'
import { registerGuards, type GuardsDependencies } from '../http/guards.ts'
import type { OriginPolicy } from '../http/origin-policy.ts'
import { notFound, sendText } from './page.ts'

export interface FileRouteDependencies extends GuardsDependencies {
  readonly openStreams: OpenStreams
  readonly limiter: Pick<CallLimiter, 'admitOther'>
  readonly openServer: () => Promise<FileServer>
  /** The name of the service, for people. */
  title (): string
  readonly publicUrl: string | undefined
  readonly token: 'optional' | 'required'
}

/** Nothing that is loaded from a link may run, load anything, or tell the link to anyone. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'private',
  'referrer-policy': 'same-origin'
}

/** @param prefix the path of the folder of links. */
export function registerFiles (
  app: FastifyInstance, prefix: string, dependencies: FileRouteDependencies
): void {
  const { openStreams, limiter, openServer, replies, token } = dependencies
  const spare = spareFromReceiveTimeout(app.server)
  const served = new WeakSet<FastifyRequest>()
  let server: Promise<FileServer> | undefined

  /** Not at the end of the answer: one that breaks off has none. */
  function tellEnd (request: FastifyRequest, reply: FastifyReply): void {
    served.add(request)
    reply.raw.once('close', () => {
      if (served.has(request)) replies.end(request, reply, { isCancelled: !reply.raw.writableFinished })
    })
  }

  async function serve (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    reply.headers(HEADERS)
    tellEnd(request, reply)
    // A download takes long: a body, which means nothing, must not wait beside it.
    if (request.method !== 'POST') request.raw.resume()
    try {
      // Also for links that do not exist: finding that out costs as much.
      limiter.admitOther(request)
      server ??= openServer()
      const sealed = new URL(request.url, 'http://localhost').pathname.slice(prefix.length + 1)
      const hasToken = token === 'required' || request.headers.authorization !== undefined
      const owner = hasToken ? fileOwnerOf(request.principal) : undefined
      const link = await (await server).find(sealed, owner)
      if (link === undefined || (request.method === 'POST' && 'file' in link)) return notFound(reply)
      // Checked and counted in one turn.
      openStreams.checkRoom(request)
      openStreams.add({ onClose: (listener) => reply.raw.once('close', listener) }, request)
      if ('file' in link) return await (await import('./download.ts')).sendFile(link.file, request, reply)
      const { sendForm, receiveFile } = await import('./upload.ts')
      if (request.method !== 'POST') return await sendForm(link.upload, dependencies.title(), reply)
      spare(request.raw.socket)
      return await receiveFile(link.upload, dependencies.title(), request, reply)
    } catch (error) {
      // The refusal is an end of its own.
      served.delete(request)
      replies.refuse(error, request, reply)
      return reply
    }
  }

  app.register(async (scope) => {
    registerGuards(scope, {
      ...dependencies,
      policy: toPagePolicy(dependencies),
      authenticator: token === 'required' ? dependencies.authenticator : toLinkAuthenticator(dependencies)
    })
    // A file that fails before its first byte is refused: the refusal is an end of its own.
    scope.addHook('onError', async (request) => { served.delete(request) })
    // The body of an upload is read as it comes.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', (_request, _body, done) => done(null))
    scope.route({ method: ['GET', 'HEAD', 'POST'], url: '/*', handler: serve })
    scope.route({
      method: ['PUT', 'PATCH', 'DELETE'],
      url: '/*',
      async handler (request, reply) {
        tellEnd(request, reply)
        return sendText(reply.header('allow', 'GET, HEAD, POST'), 405, 'This method is not served here.')
      }
    })
  }, { prefix })
}

/** A browser and a host follow a link by themselves, without a token. The link admits them. */
function toLinkAuthenticator ({ authenticator }: GuardsDependencies): Authenticator {
  return {
    authenticate: (header, sender) =>
      header === undefined ? ANONYMOUS : authenticator.authenticate(header, sender)
  }
}

/** The form of the page is sent from the page's own origin. */
function toPagePolicy ({ policy, publicUrl }: FileRouteDependencies): OriginPolicy {
  if (publicUrl === undefined) return policy
  const pageOrigin = new URL(publicUrl).origin
  return { ...policy, isAllowedOrigin: (origin) => origin === pageOrigin || policy.isAllowedOrigin(origin) }
}

const spared = new WeakSet<object>()
const changed = new WeakSet<Server>()

/**
 * Returns a function that spares the current request of a connection from the timeout of the server: uploads
 * may take longer than other requests, as long as bytes come.
 */
function spareFromReceiveTimeout (server: Server): (socket: Socket) => void {
  if (!changed.has(server)) {
    changed.add(server)
    const listeners = server.listeners('clientError')
    server.removeAllListeners('clientError')
    // Node says once that the time of a request is over. It does nothing by itself if there is a listener.
    server.on('clientError', (error, socket) => {
      const isTimeout = 'code' in error && error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      if (isTimeout && spared.has(socket)) return
      for (const listener of listeners) Reflect.apply(listener, server, [error, socket])
    })
  }
  return (socket) => spared.add(socket)
}
