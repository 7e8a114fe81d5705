// The checks before the endpoint: the host, the origin, and the authentication of the caller.

import cors from '@fastify/cors'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import {
  AuthenticationError, AuthenticationUnavailable, reasonOf, type Authenticator, type TokenSender
} from '../../platform/access/authentication.ts'
import { ANONYMOUS, type Principal } from '../../platform/access/principal.ts'
import { random } from '../../base/time.ts'
import type { ArrivingBytes } from '../../platform/limits/arriving-bytes.ts'
import { holderOf, type Holder } from '../../platform/limits/holder.ts'
import type { Used } from '../../platform/limits/used.ts'
import { invalidRequest, overloaded, ProtocolError } from '../../platform/protocol/errors.ts'
import { toErrorResponse } from '../../platform/protocol/json-rpc.ts'
import { clientAddressOf } from './client-address.ts'
import { serveInTurn } from './connections/connections.ts'
import { MAX_HEADERS } from './fastify.ts'
import { JSON_TEXT_TYPE } from './json-reply.ts'
import type { OriginPolicy } from './origin-policy.ts'
import { toPrintable, type Replies } from './replies.ts'
import type { Shutdown } from './shutdown.ts'
import type { UnavailableLog } from './unavailable-log.ts'

declare module 'fastify' {
  interface FastifyRequest { principal: Principal }
}

const EXPOSED_HEADERS = [
  'MCP-Protocol-Version', 'Mcp-Session-Id', 'Mcp-Method', 'Mcp-Name', 'Retry-After', 'WWW-Authenticate',
  'X-Request-Id'
]

export interface LoadShedding {
  /** Whether the next request must be refused, because the replica has too much to do. */
  mustRefuse (): boolean
}

export interface GuardsDependencies {
  readonly policy: OriginPolicy
  readonly authenticator: Authenticator
  /** The requests that wait for authentication. */
  readonly authentications: Used
  readonly arrivingBytes: ArrivingBytes
  readonly unavailableLog: UnavailableLog
  readonly shutdown: Pick<Shutdown, 'isRefusing'>
  readonly shedding: LoadShedding | undefined
  readonly replies: Replies
  /** Whether a request is served without authentication. Its answer must have nothing of the catalog. */
  readonly isOpen?: (request: FastifyRequest) => boolean
  /** Whether the routes say themselves which pages may read their answers. */
  readonly hasOwnCors?: boolean
}

export function registerGuards (app: FastifyInstance, dependencies: GuardsDependencies): void {
  const { policy, authenticator, authentications, unavailableLog, shutdown, shedding, replies } = dependencies
  const { arrivingBytes, isOpen = () => false, hasOwnCors = false } = dependencies
  app.decorateRequest('principal')
  app.decorateRequest('address', { getter () { return clientAddressOf(this) } })
  const addCorsHeaders = hasOwnCors ? undefined : createCors(app)

  // One hook for all checks: each hook costs a request as much as finding its route.
  app.addHook('onRequest', (request, reply, done) => {
    // An answer has no socket while an earlier answer of the same connection is not complete.
    if (reply.raw.socket !== null) guard(request, reply, done)
    else serveInTurn(request, reply, arrivingBytes, () => guard(request, reply, done))
  })

  function guard (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void {
    const { host, origin } = request.headers
    if (shutdown.isRefusing) {
      reply.header('retry-after', '1').header('connection', 'close')
      const error = overloaded('This replica is shutting down. Nothing was done; try again.')
      replies.refuse(error, request, reply)
    } else if (shedding?.mustRefuse() === true) {
      shed(reply)
    } else if (request.raw.rawHeaders.length >= 2 * MAX_HEADERS) {
      replies.refuse(invalidRequest(`it has ${MAX_HEADERS} headers or more`, 431), request, reply)
    } else if (host?.includes(',') === true) {
      // The lines of a repeated header are joined.
      replies.refuse(invalidRequest('Host is sent more than once'), request, reply)
    } else if (!policy.isAllowedHost(host)) {
      replies.refuse(hostNotAllowed(host), request, reply)
    } else if (!policy.isAllowedOrigin(origin)) {
      replies.refuse(originNotAllowed(origin), request, reply)
    } else if (origin === undefined || addCorsHeaders === undefined) {
      authenticate(request, reply, done)
    } else {
      addCorsHeaders.call(
        app, request, reply,
        (error) => error === undefined ? authenticate(request, reply, done) : done(error)
      )
    }
  }

  function authenticate (request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    if (isOpen(request)) return proceed(ANONYMOUS, request, done)
    const sender = new UnknownSender(request, authentications)
    let principal: Principal | Promise<Principal>
    try {
      principal = authenticator.authenticate(request.headers.authorization, sender)
    } catch (error) {
      reject(error, request, reply)
      return
    }
    if (principal instanceof Promise) {
      const uncount = authentications.add(sender.holder)
      principal.then((resolved) => {
        uncount()
        proceed(resolved, request, done)
      }, (error: unknown) => {
        uncount()
        reject(error, request, reply)
      })
    } else proceed(principal, request, done)
  }

  function reject (error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    if (error instanceof AuthenticationUnavailable) {
      unavailableLog.add(error)
      return replies.refuse(overloaded(UNAVAILABLE), request, reply)
    }
    if (error instanceof ProtocolError) return replies.refuse(error, request, reply)
    const code = error instanceof AuthenticationError ? error.code : 'invalid_token'
    // A client begins with a request without a token, to learn where to get one. The log has no stack:
    // everybody can send tokens that are not valid.
    if (code !== undefined) request.log.info({ reason: reasonOf(error) }, 'not authenticated')
    reply.header('www-authenticate', app.challenges.unauthorized(code))
    const hasOtherScheme = code === undefined && (request.headers.authorization ?? '') !== ''
    replies.refuse(NOT_AUTHENTICATED[hasOtherScheme ? 'otherScheme' : code ?? 'none'](), request, reply)
  }
}

/** A sender before its token is checked. Reads the address when it is needed: most tokens are cached. */
class UnknownSender implements TokenSender {
  readonly #request: FastifyRequest
  readonly #authentications: Used

  constructor (request: FastifyRequest, authentications: Used) {
    this.#request = request
    this.#authentications = authentications
  }

  get holder (): Holder | undefined {
    return holderOf({ principal: ANONYMOUS, address: this.#request.address })
  }

  get network (): string | undefined { return this.holder?.name }

  checkRoom (): void {
    const refusal = this.#authentications.findRefusal(this.holder)
    if (refusal !== undefined) throw refusal
  }
}

/** The authorization server is not the only reason: the file of static tokens may be missing. */
const UNAVAILABLE = 'Access tokens cannot be checked at the moment. Try again in a few seconds.'

const OVERLOADED = toErrorResponse(
  undefined, overloaded('This replica is overloaded. Nothing was done; try again later.')
)
/** The clients' next attempts are spread over this time. */
const SHED_WAIT_SECONDS = 5

/** Costs as little as it can: no line in the log, no span, and the body of the request is not parsed. */
function shed (reply: FastifyReply): void {
  const seconds = 1 + Math.floor(random.number() * SHED_WAIT_SECONDS)
  reply.code(503).header('retry-after', seconds).header('content-type', JSON_TEXT_TYPE).send(OVERLOADED)
}

const NOT_AUTHENTICATED = {
  none: () => invalidRequest('an access token is needed', 401),
  otherScheme: () => invalidRequest(
    'an access token is needed, and the Authorization header has another scheme than Bearer', 401
  ),
  invalid_request: () => invalidRequest(
    'the Authorization header must be "Bearer", a space and one token', 400
  ),
  invalid_token: () => invalidRequest('the access token is not valid', 401)
}

function hostNotAllowed (host = '(none)'): ProtocolError {
  return invalidRequest(`Host ${toPrintable(host)} is not one of this service; see TRIVET_ALLOWED_HOSTS`, 403)
}

function originNotAllowed (origin = '(none)'): ProtocolError {
  const name = toPrintable(origin)
  return invalidRequest(`Origin ${name} may not call this service; see TRIVET_ALLOWED_ORIGINS`, 403)
}

function proceed (principal: Principal, request: FastifyRequest, done: () => void): void {
  request.principal = principal
  done()
}

/**
 * Registers the plugin's route for preflights and returns its hook. The caller runs the hook only for
 * requests with an Origin header: other clients do not need CORS headers. Run for every request, the hook
 * costs 3 to 7 % of a call's CPU on Node 24, and -4 to 4 % on Node 20 (list, call and prompt, varied ids;
 * three starts of 200 laps each).
 */
function createCors (app: FastifyInstance): onRequestHookHandler {
  let captured: onRequestHookHandler | undefined
  const capturing: FastifyInstance = Object.create(app, {
    addHook: { value: (_name: 'onRequest', hook: onRequestHookHandler) => { captured = hook } }
  })
  // `origin: true` allows every origin: those that are not allowed have been refused before the hook runs.
  cors(
    capturing,
    { origin: true, methods: ['GET', 'POST', 'DELETE'], exposedHeaders: EXPOSED_HEADERS, maxAge: 600 },
    (error) => { if (error !== undefined) throw error }
  )
  if (captured === undefined) throw new TypeError('@fastify/cors added no onRequest hook')
  return captured
}
