// The routes of the engine: what clients ask, and the one that sends a person to the consent. The engine
// answers them: Fastify hands its reply over here, and nowhere else.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { timers } from '../../base/time.ts'
import { BASE_SCOPE, ENGINE_ROUTES, toResource } from '../../features/sign-in/engine/metadata.ts'
import { holderOf, networkOf } from '../../platform/limits/holder.ts'
import { createCookies } from './cookies.ts'
import { Limit, partOf } from '../../platform/limits/limits.ts'
import { Used } from '../../platform/limits/used.ts'
import { prefixesOf, type SignInRouteDependencies } from './served.ts'

const METADATA_PATH = '/.well-known/oauth-authorization-server'
/** The engine sets its own beside these. */
const HEADERS = {
  'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-content-type-options': 'nosniff'
}
/** Pages of other origins may read these answers. */
const OPEN_CORS = {
  'access-control-allow-origin': '*', 'access-control-allow-headers': '*', 'access-control-max-age': '600'
}
/** How long a client may take to send a body, in milliseconds. */
const BODY_MS = 10_000
const SLOW = JSON.stringify({
  error: 'invalid_request', error_description: `The body did not come within ${BODY_MS / 1000} s.`
})
/** OAuth ignores these parameters of OpenID Connect. The engine would refuse them. */
const IGNORED = [
  'acr_values', 'claims', 'claims_locales', 'id_token_hint', 'max_age', 'nonce', 'registration'
]

export function registerEngineRoutes (
  app: FastifyInstance, { signIn, limiter, replies, workerCount }: SignInRouteDependencies
): void {
  const { issuer, metadata, flows, serve } = signIn
  // Apart from the requests of callers that wait: a stranger can send these slowly.
  const running = new Used(new Limit('signInRequests', partOf('signInRequests', workerCount)))
  const [resource = ''] = metadata.protected_resources
  const { origin, protocol, host, pathname } = new URL(issuer)
  const cookies = createCookies(protocol === 'https:')
  const { authorization, token, registration, revocation, jwks } = ENGINE_ROUTES

  app.addHook('preHandler', (request, reply, done) => {
    const holder = holderOf(request)
    try {
      limiter.admitOther(request)
      const refusal = running.findRefusal(holder)
      if (refusal !== undefined) throw refusal
    } catch (error) {
      return replies.refuse(error, request, reply)
    }
    reply.headers({ ...HEADERS, 'x-request-id': request.id })
    // One network cannot keep others out with slow bodies, or with documents that do not come.
    const uncount = running.add(holder)
    const timer = timers.setTimeout(() => endSlow(request.raw, reply.raw), BODY_MS)
    reply.raw.once('close', () => {
      timers.clear(timer)
      uncount()
      replies.end(request, reply, { isCancelled: !reply.raw.writableFinished })
    })
    done()
  })

  /** @param path below the issuer. */
  function handOver (request: FastifyRequest, reply: FastifyReply, path: string, way?: string): void {
    const { raw, log } = request
    const { searchParams } = new URL(request.url, origin)
    const query = path === authorization ? toEngineQuery(searchParams, resource) : searchParams
    for (const [name, value] of Object.entries(reply.getHeaders())) {
      if (value !== undefined) reply.raw.setHeader(name, value)
    }
    // The engine writes URLs by what it is asked for. A proxy may ask for another host, path or protocol.
    Object.assign(raw.headers, { 'x-forwarded-host': host, 'x-forwarded-proto': protocol.slice(0, -1) })
    Object.assign(raw, { url: `${path}?${query}`, baseUrl: pathname.replace(/\/$/, '') })
    reply.hijack()
    serve(raw, reply.raw, { log, network: networkOf(request), way }).catch((error: unknown) => {
      log.error({ err: error }, 'a request of the sign-in failed')
    })
  }

  // The engine reads bodies itself, 56 KiB at most.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))

  function route (method: 'GET' | 'POST' | 'OPTIONS', url: string, path: string): void {
    app.route({ method, url, handler: (request, reply) => handOver(request, reply, path) })
  }

  /** The engine lets no page of another origin read these answers, or is not asked. */
  function openRoute (method: 'GET' | 'POST', url: string, handler: RouteHandlerMethod): void {
    app.route({ method, url, preHandler: async (_, reply) => { reply.headers(OPEN_CORS) }, handler })
    app.options(url, (_, reply) => (
      reply.headers(OPEN_CORS).header('access-control-allow-methods', method).code(204).send()
    ))
  }

  for (const prefix of prefixesOf(issuer)) {
    route('GET', prefix + authorization, authorization)
    route('POST', prefix + token, token)
    route('OPTIONS', prefix + token, token)
    route('POST', prefix + revocation, revocation)
    route('GET', prefix + jwks, jwks)
    const back = `${prefix}${authorization}/:flow(^[\\w-]{1,64}$)`
    app.get<{ Params: { flow: string } }>(back, (request, reply) => {
      const { flow } = request.params
      const way = flows.nameWay(flow, cookies.of(request))
      cookies.set(reply, [flows.endWay(flow)])
      handOver(request, reply, `${authorization}/${flow}`, way)
    })
    openRoute('GET', `${METADATA_PATH}${prefix}`, (_, reply) => reply.send(metadata))
    if (metadata.registration_endpoint === undefined) continue
    openRoute('POST', prefix + registration, (request, reply) => handOver(request, reply, registration))
  }
}

/** The engine reads a body for as long as it comes. */
function endSlow ({ complete: isComplete }: IncomingMessage, response: ServerResponse): void {
  if (isComplete || response.headersSent) return
  response.writeHead(408, { 'content-type': 'application/json', connection: 'close' }).end(SLOW)
}

function toEngineQuery (query: URLSearchParams, resource: string): URLSearchParams {
  const params = new URLSearchParams()
  for (const [name, value] of query) {
    if (IGNORED.includes(name)) continue
    params.append(name, name === 'resource' ? toResource(resource, value) : value)
  }
  const scopes = (query.get('scope') ?? '').split(' ').filter((name) => name !== '' && name !== 'openid')
  if (params.getAll('scope').length <= 1) params.set('scope', [...scopes, BASE_SCOPE].join(' '))
  // The engine would send its error as the form or the fragment that the client asked for.
  if (![null, 'query'].includes(params.get('response_mode'))) params.set('response_mode', 'unsupported')
  return params
}
