// The official SDK, mounted on Fastify as its documentation shows. The two SDK servers differ only in the
// place where schemas are made.

import { createMcpFastifyApp } from '@modelcontextprotocol/fastify'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { SERVER } from '../catalog/definitions.mjs'
import { registerAll } from './register-all.mjs'

/**
 * @param {{ toolInput: Function, toolOutput: Function, promptInput: Function }} schemas the factory calls
 * these functions for each request
 */
export async function serve (schemas) {
  const handle = toNodeHandler(createMcpHandler(() => {
    const server = new McpServer(SERVER)
    registerAll(server, schemas)
    return server
  }))
  const app = createMcpFastifyApp()
  app.all('/mcp', (request, reply) => handle(request.raw, reply.raw, request.body))
  await app.listen({ port: 0, host: '127.0.0.1' })
}
