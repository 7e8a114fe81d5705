// The settings of the HTTP server, each with its reason.

import Fastify, { LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { random } from '../../base/time.ts'
import { answerClientError, rememberExchanges } from './connections/client-errors.ts'
import { lingerBeforeClose } from './connections/lingering.ts'
import { createLazyLogs } from './lazy-log.ts'

/**
 * Node 24 has URLPattern. It writes one chunk by itself, and WholeResponse would cost 0 to 4 %. There an ES
 * import of node:http would load Node's WebSocket client too, which takes 50 ms of CPU.
 */
const responseOptions = 'URLPattern' in globalThis
  ? {}
  : { ServerResponse: (await import('./server-response.ts')).WholeResponse }

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether a program that embeds the service changes or reads what is sent. */
    readonly hasSendHooks: boolean
  }
}

/** How long a client may take to send one request, in milliseconds: a slow client must not hold a socket. */
const RECEIVE_TIMEOUT_MS = 60_000
/**
 * How long a client may take to send the headers of a request, in milliseconds, also of the first one: silent
 * connections must not take the place of others.
 */
const HEADERS_TIMEOUT_MS = 15_000
const CHECK_TIMEOUTS_EVERY_MS = 5000
/**
 * Longer than load balancers keep an idle connection (usually 60 s), so that a load balancer never sends a
 * request on a connection that the service is closing.
 */
const KEEP_ALIVE_TIMEOUT_MS = 72_000

/**
 * Node drops the headers behind these without a word: the address that a proxy adds, or an Origin that must
 * be refused. The guards refuse a request with as many.
 */
export const MAX_HEADERS = 1000

interface FastifyOptions {
  /** The proxies whose X-Forwarded-For is believed, as proxy-addr reads them. None by default. */
  readonly trustedProxies?: readonly string[]
  /** The most bytes that the headers of a request may have: with more it gets 431. Node's own by default. */
  readonly maxHeaderBytes?: number
  /** Whether the log is the service's own. */
  readonly isOwnLog?: boolean
}

export function createFastify (
  log: FastifyBaseLogger, { trustedProxies = [], maxHeaderBytes, isOwnLog = false }: FastifyOptions = {}
): FastifyInstance {
  // Unique across replicas and restarts, and cheap to make.
  const prefix = random.bytes(4).toString('hex')
  let count = 0
  const app = Fastify({
    loggerInstance: log,
    ...isOwnLog && { childLoggerFactory: createLazyLogs(log) },
    rewriteUrl: ({ url = '/' }) => toDecodable(url),
    // The service writes a line of its own for each request.
    logController: new LogController({ disableRequestLogging: true }),
    // Decides `request.ip` and `request.protocol`. Nothing reads `request.host`, which it also changes.
    trustProxy: trustedProxies.length === 0 ? false : [...trustedProxies],
    genReqId: () => `${prefix}-${(++count).toString(36)}`,
    requestTimeout: RECEIVE_TIMEOUT_MS,
    http: {
      ...responseOptions,
      headersTimeout: HEADERS_TIMEOUT_MS,
      ...maxHeaderBytes !== undefined && { maxHeaderSize: maxHeaderBytes },
      connectionsCheckingInterval: CHECK_TIMEOUTS_EVERY_MS,
      // Otherwise the first line of a repeated header counts, and a proxy may read another line.
      joinDuplicateHeaders: true
    },
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    exposeHeadRoutes: false,
    clientErrorHandler: answerClientError,
    // A request that arrives on an open connection during a shutdown is served, and its connection then
    // closes.
    return503OnClosing: false
  })
  app.server.maxHeadersCount = MAX_HEADERS
  rememberExchanges(app.server)
  lingerBeforeClose(app.server)
  noteSendHooks(app)
  return app
}

/**
 * Returns the URL with a path that can be decoded. Fastify would answer other paths before any hook. No route
 * has the changed path, so it gets the answer of an unknown one.
 */
function toDecodable (url: string): string {
  if (!url.includes('%')) return url
  const [path = '', ...query] = url.split(/(?=[?#])/)
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return encodeURI(path) + query.join('')
  }
}

/** Fastify does not tell which hooks an app has. Plugins add theirs to apps whose prototype this one is. */
function noteSendHooks (app: FastifyInstance): void {
  let hasSendHooks = false
  app.decorate('hasSendHooks', { getter: () => hasSendHooks })
  const addHook: unknown = app.addHook
  Object.assign(app, {
    addHook (this: FastifyInstance, name: string, ...options: unknown[]): unknown {
      if (name === 'onSend') hasSendHooks = true
      return Reflect.apply(addHook as () => unknown, this, [name, ...options])
    }
  })
}
