// Who gets as far as the endpoint: hosts, origins, and callers who are who they say.

import cors from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Authenticator } from '../access/authenticator.ts'
import type { Principal } from '../access/principal.ts'
import { invalidRequest, type ProtocolError } from '../protocol/errors.ts'
import { toErrorResponse } from '../protocol/json-rpc.ts'
import type { OriginPolicy } from './origin-policy.ts'

declare module 'fastify' {
  interface FastifyRequest { principal: Principal }
}

const EXPOSED_HEADERS = ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'Retry-After', 'WWW-Authenticate']

export function registerGuards (app: FastifyInstance, policy: OriginPolicy, authenticator: Authenticator): void {
  app.decorateRequest('principal')

  app.addHook('onRequest', (request, reply, done) => {
    const { host, origin } = request.headers
    if (!policy.allowsHost(host)) refuse(reply, invalidRequest(`Host ${host ?? '(none)'} is not one of this service; see TRIVET_ALLOWED_HOSTS`, 403))
    else if (!policy.allowsOrigin(origin)) refuse(reply, invalidRequest(`Origin ${origin ?? '(none)'} may not call this service; see TRIVET_ALLOWED_ORIGINS`, 403))
    else done()
  })

  if (policy.allowsSomeOrigin) {
    // Only allowed origins get this far, so each may have the answer.
    cors(forWebPages(app), { origin: true, methods: ['POST'], exposedHeaders: EXPOSED_HEADERS, maxAge: 600 }, (error) => { if (error !== undefined) throw error })
  }

  app.addHook('onRequest', (request, reply, done) => {
    const proceed = (principal: Principal) => {
      request.principal = principal
      done()
    }
    try {
      const principal = authenticator.authenticate(request.headers.authorization)
      if (principal instanceof Promise) principal.then(proceed, (error: unknown) => reject(error, request, reply))
      else proceed(principal)
    } catch (error) {
      reject(error, request, reply)
    }
  })
}

/** The same app to a plugin, whose hook then runs only for what a web page sent: others have no use for its headers. */
function forWebPages (app: FastifyInstance): FastifyInstance {
  const addHook = (name: 'onRequest', hook: onRequestHookHandler) => app.addHook(name, function (request, reply, done) {
    if (request.headers.origin === undefined) done()
    else hook.call(this, request, reply, done)
  })
  return Object.create(app, { addHook: { value: addHook } })
}

function reject (error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  request.log.info({ err: error }, 'not authenticated')
  reply.header('www-authenticate', 'Bearer')
  refuse(reply, invalidRequest('the Authorization header is missing or not valid', 401))
}

/** Before the body has been read there is no id to answer under. */
function refuse (reply: FastifyReply, error: ProtocolError): void {
  reply.code(error.httpStatus).header('content-type', 'application/json').send(toErrorResponse(undefined, error))
}
