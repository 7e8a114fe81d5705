// The app of the admin address, for operators: health in detail, metrics, tasks, and a page of all that. It
// has no endpoint.

import { hash, timingSafeEqual } from 'node:crypto'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { limitRepeats } from '../../base/outage-log.ts'
import { toWellFormedJson } from '../../base/text.ts'
import { messageOf, quote } from '../../base/words.ts'
import { clientAddressOf } from '../http/client-address.ts'
import { createFastify } from '../http/fastify.ts'
import { createOriginPolicy } from '../http/origin-policy.ts'
import { sendPage } from '../http/pages/page.ts'
import { readStatus } from './status-facts.ts'
import { toStatusPage } from './status-page.ts'
import type { HealthReport } from '../http/readiness.ts'
import type { OperatedTasks, OperatorChange, TaskQuery } from '../../request/pipeline/served-tasks.ts'

/** What an operator did, or was refused. The id of the task is left out: it opens an anonymous one. */
interface OperatorAct {
  readonly outcome: 'ok' | 'denied' | 'invalid'
  /** `cancel`, `retry` or `values`, or the path of a request without a valid token. */
  readonly action: string
  /** Begins the SHA-256 of the token, so that a new token can be told from the one before. */
  readonly token?: string | undefined
  readonly address: string | undefined
  /** The tool. */
  readonly name?: string | undefined
  /** The owner of the task. */
  readonly owner?: string | undefined
  /** The id of the call that began the task, as in the log. */
  readonly requestId?: string | undefined
  /** How many requests without a valid token came since the act before. Anyone may send them. */
  readonly requests?: number
}

interface AdminAppDependencies {
  readonly log: FastifyBaseLogger
  /** Checks every part. */
  health (): Promise<HealthReport>
  /** Absent if the service does not measure itself. */
  readonly metrics: { readonly contentType: string, text (): Promise<string> } | undefined
  /** Absent if the service has no tasks. */
  readonly tasks: OperatedTasks | undefined
  /** The token that changes tasks. If it is set, reading tasks needs it too. */
  readonly token: string | undefined
  /** The version of Trivet. */
  readonly version: string
  /** Whether requests are traced. */
  readonly isTraced: boolean
  onAct (act: OperatorAct): void
}

const FILTERS = ['status', 'phase', 'undo', 'tool', 'subject'] as const
const CHOICES: { readonly [filter: string]: readonly string[] } = {
  status: ['working', 'input_required', 'completed', 'failed', 'cancelled'],
  phase: ['running', 'waiting', 'asking', 'undoing', 'over'],
  undo: ['due', 'done', 'failed']
}
const PARAMETERS: readonly string[] = [...FILTERS, 'olderThanMs', 'limit', 'cursor']
const DEFAULT_LIMIT = 100
const MAX_LIMIT = 500
const OFF = 'Tasks cannot be changed here: set TRIVET_ADMIN_TOKEN for the service, and start it again'
const NO_VALUES = 'Values are not shown here: set TRIVET_ADMIN_TOKEN for the service, and start it again'
const UNAUTHORIZED = 'Send the token of TRIVET_ADMIN_TOKEN as Authorization: Bearer TOKEN'

/** An app that does not listen. Anyone who reaches its address may read it, but for tasks with a token. */
export function createAdminApp (dependencies: AdminAppDependencies): FastifyInstance {
  const { log, health, metrics } = dependencies
  const app = createFastify(log)
  const options = { logLevel: 'silent', exposeHeadRoute: true } as const
  app.setReplySerializer((payload) => toWellFormedJson(JSON.stringify(payload)))
  guardAgainstRebinding(app)
  // No route reads a body.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _body, done) => done(null))
  // A reader that is slow must not delay the end of the process.
  app.addHook('preClose', (done) => {
    app.server.closeAllConnections()
    done()
  })
  app.get('/livez', options, () => ({ status: 'ok' }))
  app.get('/readyz', options, async (_, reply) => {
    const report = await health()
    return reply.code(report.ready ? 200 : 503).send(report)
  })
  if (metrics !== undefined) {
    app.get('/metrics', options, async (_, reply) => {
      return reply.header('content-type', metrics.contentType).send(await metrics.text())
    })
  }
  app.register(async (guarded) => {
    guardTasks(guarded, dependencies)
    registerStatus(guarded, dependencies)
    if (dependencies.tasks !== undefined) registerTasks(guarded, dependencies, dependencies.tasks)
  })
  return app
}

function toDigest (token: string | undefined): Buffer | undefined {
  return token === undefined ? undefined : hash('sha256', token, 'buffer')
}

/** Refuses requests without the token, if there is one. The page is shown without tasks then. */
function guardTasks (app: FastifyInstance, { log, token, onAct }: AdminAppDependencies): void {
  const digest = toDigest(token)
  const noteDenied = limitRepeats<FastifyRequest>((request, requests) => {
    const action = request.routeOptions.url ?? ''
    onAct({ outcome: 'denied', action, address: clientAddressOf(request), requests })
  })
  app.addHook('onRequest', async (request, reply) => {
    if (digest === undefined) {
      if (request.method === 'POST') return refuse(reply, 403, OFF)
      return
    }
    if (request.routeOptions.url === '/' && request.headers.authorization === undefined) return
    const [, bearer = ''] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? []
    if (timingSafeEqual(hash('sha256', bearer, 'buffer'), digest)) return
    noteDenied(request)
    return refuse(reply.header('www-authenticate', 'Bearer'), 401, UNAUTHORIZED)
  })
  app.setErrorHandler((error, _, reply) => {
    if (error instanceof RangeError) return refuse(reply, 400, error.message)
    const status = error instanceof Error && 'statusCode' in error ? error.statusCode : undefined
    // A body that is no JSON, though no route reads one.
    if (typeof status === 'number' && status < 500) return refuse(reply, status, messageOf(error))
    log.warn({ err: error }, 'an operator was not answered')
    return refuse(reply, 503, messageOf(error))
  })
}

const REFRESH_SECONDS = 10

function registerStatus (app: FastifyInstance, dependencies: AdminAppDependencies): void {
  const options = { logLevel: 'silent', exposeHeadRoute: true } as const
  app.get<{ Querystring: Query }>('/', options, async ({ query, headers: { authorization } }, reply) => {
    const mayList = dependencies.token === undefined || authorization !== undefined
    const refreshSeconds = query.refresh === 'off' ? undefined : REFRESH_SECONDS
    const status = await readStatus(dependencies, { mayList, refreshSeconds })
    return sendPage(reply.header('cache-control', 'no-store'), 200, toStatusPage(status))
  })
}

function registerTasks (
  app: FastifyInstance, { token, version, onAct }: AdminAppDependencies, tasks: OperatedTasks
): void {
  const digest = toDigest(token)
  app.get<{ Querystring: Query }>('/tasks', async ({ query }) => {
    const { cursor, limit, ...filter } = readQuery(query)
    return await tasks.list(filter, cursor, limit)
  })
  const noteAct = (request: FastifyRequest, action: string, { outcome, task }: OperatorChange) => {
    const sender = { token: digest?.toString('hex', 0, 4), address: clientAddressOf(request) }
    const subject = { name: task?.tool, owner: task?.subject, requestId: task?.requestId }
    onAct({ outcome: outcome === 'done' ? 'ok' : 'invalid', action, ...sender, ...subject })
  }
  app.get<{ Params: TaskParams, Querystring: Query }>('/tasks/:id', async (request, reply) => {
    const { params: { id }, query } = request
    const hasValues = isOn(query, 'values')
    if (!isOn(query, 'recording')) {
      if (hasValues) throw new RangeError('values=1 needs recording=1')
      return await tasks.show(id) ?? refuse(reply, 404, unknown(id))
    }
    if (hasValues && digest === undefined) return refuse(reply, 403, NO_VALUES)
    const change = await tasks.record(id, { trivet: version, hasValues })
    if (hasValues) noteAct(request, 'values', change)
    return answer(reply, id, change, change.recording)
  })
  for (const action of ['cancel', 'retry'] as const) {
    app.post<{ Params: TaskParams }>(`/tasks/:id/${action}`, async (request, reply) => {
      const { id } = request.params
      const change = await tasks[action](id)
      noteAct(request, action, change)
      return answer(reply, id, change, change.task)
    })
  }
}

interface TaskParams { readonly id: string }

function answer (
  reply: FastifyReply, id: string, { outcome, problem = '' }: OperatorChange, body: object | undefined
): object | undefined {
  if (outcome === 'unknown') return refuse(reply, 404, unknown(id))
  return outcome === 'refused' ? refuse(reply, 409, `The task ${problem}`) : body
}

/** Throws a RangeError for a value other than 1. */
function isOn (query: Query, name: string): boolean {
  const value = query[name]
  if (value !== undefined && value !== '1') throw new RangeError(`${name} must be 1`)
  return value === '1'
}

interface ListQuery extends TaskQuery {
  readonly cursor: string | undefined
  readonly limit: number
}

type Query = { readonly [name: string]: string | readonly string[] | undefined }

/** Throws a RangeError that names the parameter. */
function readQuery (query: Query): ListQuery {
  const unknown = Object.keys(query).find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined) throw new RangeError(`${unknown} is none of ${PARAMETERS.join(', ')}`)
  const texts = new Map(Object.entries(query).map(([name, value]) => [name, String(value)]))
  const number = (name: string, max: number): number | undefined => {
    const text = texts.get(name)
    if (text === undefined) return undefined
    if (!/^\d{1,15}$/.test(text) || Number(text) > max) throw new RangeError(`${name} must be from 0 to ${max}`)
    return Number(text)
  }
  const filter = Object.fromEntries(FILTERS.map((name) => [name, texts.get(name)]))
  for (const [name, choices] of Object.entries(CHOICES)) {
    const value = filter[name]
    if (value !== undefined && !choices.includes(value)) {
      throw new RangeError(`${name} must be one of ${choices.join(', ')}`)
    }
  }
  const olderThanMs = number('olderThanMs', Number.MAX_SAFE_INTEGER)
  const limit = Math.max(1, number('limit', MAX_LIMIT) ?? DEFAULT_LIMIT)
  return { ...filter, ...(olderThanMs !== undefined && { olderThanMs }), cursor: texts.get('cursor'), limit }
}

const unknown = (id: string) => `There is no task ${quote(id)}, or its record has expired`

function refuse (reply: FastifyReply, statusCode: number, message: string): FastifyReply {
  return reply.code(statusCode).send({ statusCode, message })
}

/** A web page could reach an address of this machine by a name of its own. Its requests have that name. */
function guardAgainstRebinding (app: FastifyInstance): void {
  const policy = createOriginPolicy(app.server, { allowedHosts: [], allowedOrigins: [] })
  app.addHook('onRequest', async ({ headers: { host, origin } }: FastifyRequest, reply) => {
    if (policy.isAllowedHost(host) && policy.isAllowedOrigin(origin)) return
    const message = 'Host or Origin not allowed'
    return reply.code(403).send({ statusCode: 403, error: 'Forbidden', message })
  })
}
