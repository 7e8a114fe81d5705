// A client that takes tasks, and a service whose callers say who they are.

import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { AppOptions } from '../../../src/app/app.ts'
import { buildApp } from '../../helpers/app.ts'
import { toolModule, type Files } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { VirtualTime } from '../../helpers/virtual-time.ts'
import { send, type Answer, type Message, type RequestParts } from '../../helpers/request.ts'

export const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** Serves these tools, with a short grace time. */
export async function serveTools (
  t: Test, tools: ToolSources, options: AppOptions = {}
): Promise<FastifyInstance> {
  return await buildApp(t, toFiles(tools), { constants: { taskGraceMs: 50 }, ...options })
}

/** Serves these tools in a time that passes only while a client of the test waits. */
export async function serveInVirtualTime (
  t: Test, tools: ToolSources, options: AppOptions = {}
): Promise<{ readonly app: FastifyInstance, readonly time: VirtualTime }> {
  const time = new VirtualTime(t)
  const app = await serveTools(t, tools, options)
  t.teardown(async () => await time.during(app.close(), MAX_MS))
  return { app, time }
}

/** The longest time for an answer, in milliseconds of virtual time. */
const MAX_MS = 120_000

/** By name: the options of a tool, and its `run`, as source text. */
export interface ToolSources { readonly [name: string]: readonly [options: string, run: string] }

export function toFiles (tools: ToolSources): Files {
  return Object.fromEntries(Object.entries(tools).map(
    ([name, [options, run]]) => [
      `tools/${name}.ts`, `import { elicit } from 'trivet'\n${toolModule(name, options, run)}`
    ]
  ))
}

/** Takes the header `Authorization` as the name of the caller. */
export const named: Pick<AppOptions, 'authenticator'> = {
  authenticator: {
    authenticate: (authorization) => ({
      scopes: new Set(), ...(authorization !== undefined && { subject: authorization })
    })
  }
}

interface ClientOptions {
  /** Anonymous by default. */
  readonly user?: string
  /** Those of tasks and of forms by default. */
  readonly capabilities?: object
  /** The time that passes while the client waits. */
  readonly time?: VirtualTime
}

/** Sends a request to a service in this process, or elsewhere. */
export type SendRequest = (parts: RequestParts) => Promise<Pick<Answer, 'status' | 'response'>>

export class TaskClient {
  readonly #send: SendRequest
  readonly #headers: { readonly [name: string]: string }
  readonly #capabilities: object
  readonly #until: typeof until

  constructor (to: FastifyInstance | SendRequest, options: ClientOptions = {}) {
    const { user = '', capabilities = { ...TASKS, elicitation: {} }, time } = options
    const sendNow: SendRequest = typeof to === 'function' ? to : async (parts) => await send(to, parts)
    this.#send = time === undefined ? sendNow : async (parts) => await time.during(sendNow(parts), MAX_MS)
    this.#until = time === undefined ? until : time.until.bind(time)
    this.#headers = user === '' ? {} : { authorization: user }
    this.#capabilities = capabilities
  }

  async send (
    method: string, params: object, meta: object = {}, headers: object = {}, id: string | number = 1
  ): ReturnType<SendRequest> {
    return await this.#send({
      method,
      params: { ...params },
      headers: { ...this.#headers, ...headers },
      meta: { [CAPABILITIES]: this.#capabilities, ...meta },
      id
    })
  }

  async ask (
    method: string, params: object, headers: object = {}, id: string | number = 1
  ): Promise<Message> {
    const { response } = await this.send(method, params, {}, headers, id)
    return response.error ?? response.result
  }

  async call (name: string, args: object = {}, more: object = {}): Promise<Message> {
    return await this.ask('tools/call', { name, arguments: args, ...more })
  }

  async get (taskId: string): Promise<Message> { return await this.ask('tasks/get', { taskId }) }

  async update (taskId: string, inputResponses: object): Promise<Message> {
    return await this.ask('tasks/update', { taskId, inputResponses })
  }

  async cancel (taskId: string): Promise<Message> { return await this.ask('tasks/cancel', { taskId }) }

  /** Resolves to the task once it has the status. */
  async until (taskId: string, status: string, ms?: number): Promise<Message> {
    let task: Message
    await this.#until(async () => (task = await this.get(taskId)).status === status, `the status ${status}`, ms)
    return task
  }
}
