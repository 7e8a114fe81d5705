// A server as an upstream, and a service with a tool that calls it.

import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { AppOptions } from '../../../src/app/app.ts'
import { buildApp } from '../../helpers/app.ts'
import type { Files } from '../../helpers/catalog-folder.ts'
import { createReadableLog, type ReadableLog } from '../../helpers/log.ts'
import { send, type Message } from '../../helpers/request.ts'

export interface UpstreamServer {
  readonly server: Server
  readonly url: string
  /** The connections that are open. */
  readonly sockets: ReadonlySet<Socket>
  /** How many connections there were. */
  connections: number
  /** How many requests came. */
  requests: number
}

/** Ends with the test, and breaks off what is open. */
export async function startUpstream (t: Test, listener: RequestListener, port = 0): Promise<UpstreamServer> {
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    upstream.requests++
    listener(request, response)
  })
  server.on('connection', (socket) => {
    upstream.connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: own } = server.address() as AddressInfo
  const upstream: UpstreamServer = {
    server, url: `http://127.0.0.1:${own}/api`, sockets, connections: 0, requests: 0
  }
  t.teardown(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return upstream
}

export interface CallerOptions {
  /** Members of the definition, beside name, URL and allowPrivate. */
  readonly definition?: string
  /** The handler of the tool `call`. */
  readonly run: string
  /** More members of the tool. */
  readonly tool?: string
  readonly files?: Files
  readonly options?: AppOptions
}

export interface OpenedCaller {
  readonly app: FastifyInstance
  readonly log: ReadableLog
  /** Calls the tool. Resolves to the result, or to the error. */
  call (args?: object): Promise<Message>
}

/** The module that defines the upstream `crm`. */
export function crmModule (url: string, definition = "auth: { type: 'none' }"): string {
  const auth = /\bauth:/.test(definition) ? '' : "auth: { type: 'none' },"
  return `import { defineUpstream, defineSettings } from 'trivet'
    export const crm = defineUpstream({
      name: 'crm', url: ${JSON.stringify(url)}, allowPrivate: true, ${auth} ${definition}
    })`
}

export async function openCaller (
  t: Test, { url }: Pick<UpstreamServer, 'url'>,
  { definition = '', run, tool = '', files = {}, options = {} }: CallerOptions
): Promise<OpenedCaller> {
  const log = createReadableLog('debug')
  const app = await buildApp(t, {
    'lib/crm.ts': crmModule(url, definition),
    'tools/call.ts': `import { defineTool, UpstreamError } from 'trivet'
      import { crm } from '../lib/crm.ts'
      export default defineTool({
        name: 'call', inputSchema: { type: 'object' }, ${tool}
        run: ${run}
      })`,
    ...files
  }, { logger: log.logger, ...options })
  return {
    app,
    log,
    async call (args = {}) {
      const params = { name: 'call', arguments: args }
      const { response } = await send(app, { method: 'tools/call', params })
      return response.result ?? response.error
    }
  }
}

/** The text of a result, or the message of an error. */
export const textOf = (result: Message): string => result.content?.[0].text ?? result.message
