// The official SDK, mounted on Fastify as its documentation shows; the two SDK peers differ only in where schemas are made.

import { createMcpFastifyApp } from '@modelcontextprotocol/fastify'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { prompts, resources, SERVER, tools } from '../data.mjs'
import { search } from '../search.mjs'

const data = { tools: tools(Number(process.env.BENCH_TOOLS)), prompts: prompts(), resources: resources() }

/**
 * @param {{ toolInput: Function, toolOutput: Function, promptInput: Function }} schemas called per request, by the factory
 */
export async function serve (schemas) {
  const handle = toNodeHandler(createMcpHandler(() => createServer(schemas)))
  const app = createMcpFastifyApp()
  app.all('/mcp', (request, reply) => handle(request.raw, reply.raw, request.body))
  console.log(`${await app.listen({ port: 0, host: '127.0.0.1' })}/mcp`)
}

function createServer ({ toolInput, toolOutput, promptInput }) {
  const server = new McpServer(SERVER)
  for (const tool of data.tools) {
    const { name, title, description } = tool
    server.registerTool(name, { title, description, inputSchema: toolInput(tool), outputSchema: toolOutput(tool) }, async (args) => {
      const structuredContent = search(name, args)
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
    })
  }
  for (const prompt of data.prompts) {
    const { name, title, description, argument, text } = prompt
    server.registerPrompt(name, { title, description, argsSchema: promptInput(prompt) }, (args) => (
      { messages: [{ role: 'user', content: { type: 'text', text: text(args[argument.name]) } }] }
    ))
  }
  for (const { name, uri, title, mimeType, text } of data.resources) {
    server.registerResource(name, uri, { title, mimeType }, async (url) => ({ contents: [{ uri: url.href, mimeType, text }] }))
  }
  return server
}
