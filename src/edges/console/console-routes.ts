// The routes of the console of `trivet dev`: its page, what the page asks of the service beside the endpoint,
// and the sandbox of screens. They answer this machine only, and no page of another origin.

import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { toWellFormedJson } from '../../base/text.ts'
import { messageOf } from '../../base/words.ts'
import { LOOPBACK_HOST } from '../http/origin-policy.ts'
import { refuseOtherMachines, refuseOtherPages } from '../http/own-machine.ts'

const FOLDER = '/console'
const PAGE = 'index.html'
const MAX_BODY_BYTES = 65_536

export interface ConsoleFile {
  readonly type: string
  readonly bytes: Buffer
}

/** What the console has beside the endpoint. */
export interface ConsoleSource {
  /** The files of the page, by name. */
  readonly files: ReadonlyMap<string, ConsoleFile>
  /** Returns the state of the service and its catalog, as JSON. */
  readState (): string
  /** Resolves to a token for a caller. Rejects with a TypeError that says what was expected. */
  pick (caller: unknown): Promise<string>
  /** Resolves to the recording and the log of a task. `undefined` for a task that is unknown. */
  readTask (id: string): Promise<object | undefined>
  /**
   * Returns the page that shows a screen.
   * @param csp the policy of the screen, as JSON. `undefined` is returned for one that cannot be read.
   */
  showScreen (csp: string): {
    readonly headers: { readonly [name: string]: string }, readonly html: string
  } | undefined
}

/** Whether browsers reach the console at an address that the service listens on. */
export function mayServeConsole (host: string): boolean {
  return LOOPBACK_HOST.test(host.includes(':') ? `[${host}]` : host)
}

/** Where the console is: at the root, unless the endpoint is there. */
export function consolePathOf (endpoint: string): string {
  return endpoint === '/' ? FOLDER : '/'
}

export function registerConsole (app: FastifyInstance, source: ConsoleSource, endpoint: string): void {
  app.addHook('onRequest', refuseOtherMachines('console'))
  app.get(consolePathOf(endpoint), (request, reply) => {
    reply.headers({ 'content-security-policy': toPolicy(request), 'x-content-type-options': 'nosniff' })
    return sendFile(source, PAGE, reply)
  })
  app.get<{ Params: { name: string } }>(`${FOLDER}/:name`, ({ params: { name } }, reply) => (
    name === PAGE ? reply.callNotFound() : sendFile(source, name, reply)
  ))
  app.get<{ Querystring: { csp?: string } }>(`${FOLDER}/sandbox`, ({ query: { csp } }, reply) => {
    const page = source.showScreen(String(csp ?? 'null'))
    if (page === undefined) return reply.code(400).type('text/plain').send('csp must be a policy as JSON\n')
    return reply.headers(page.headers).send(page.html)
  })
  app.register(async (routes) => {
    routes.setReplySerializer((payload) => toWellFormedJson(JSON.stringify(payload)))
    routes.addHook('onRequest', refuseOtherPages('console'))
    routes.get(`${FOLDER}/state`, (request, reply) => sendState(source.readState(), request, reply))
    routes.get<{ Params: { id: string } }>(`${FOLDER}/tasks/:id`, async ({ params: { id } }, reply) => {
      const task = await source.readTask(id)
      if (task === undefined) return reply.code(404).type('text/plain').send('There is no such task\n')
      return reply.header('cache-control', 'no-store').send(task)
    })
    routes.post(`${FOLDER}/callers`, { bodyLimit: MAX_BODY_BYTES }, async ({ body }, reply) => {
      try {
        return reply.header('cache-control', 'no-store').send({ token: await source.pick(body) })
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
        return reply.code(400).send({ message: messageOf(error) })
      }
    })
  })
}

function sendFile ({ files }: ConsoleSource, name: string, reply: FastifyReply): FastifyReply | void {
  const file = files.get(name)
  if (file === undefined) return reply.callNotFound()
  return reply.header('cache-control', 'no-cache').type(file.type).send(file.bytes)
}

function sendState (state: string, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const tag = `"${hash('sha256', state, 'base64url')}"`
  reply.headers({ 'cache-control': 'no-cache', etag: tag })
  if (headers['if-none-match'] === tag) return reply.code(304).send()
  return reply.type('application/json').send(state)
}

/** A screen runs in a frame of another origin: of the other name of this machine. */
function toPolicy ({ headers: { host = '' } }: FastifyRequest): string {
  const [, name, port = ''] = LOOPBACK_HOST.exec(host) ?? []
  const sandboxHost = name?.toLowerCase() === 'localhost' ? '127.0.0.1' : 'localhost'
  return "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
    "img-src 'self' data: blob:; media-src data: blob:; font-src 'self'; " +
    `frame-src http://${sandboxHost}${port}; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`
}
