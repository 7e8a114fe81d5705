// A server of @platformatic/mcp, or of the build that BENCH_PACKAGE names, as its documentation shows. By
// default it does not check arguments against a JSON Schema. It checks them here, as the other MCP servers
// do, unless BENCH_CHECKS is `none`.

import Fastify from 'fastify'
import { prompts, resources, SERVER, tools } from '../catalog/definitions.mjs'
import { toolAnswer } from '../servers/register-all.mjs'

const { default: mcp } = await import(process.env.BENCH_PACKAGE ?? '@platformatic/mcp')
const app = Fastify()
const capabilities = { tools: {}, resources: {}, prompts: {} }
const checks = process.env.BENCH_CHECKS === 'none' ? {} : { validateJsonSchemaInputs: {} }
await app.register(mcp, { serverInfo: SERVER, capabilities, ...checks })

for (const tool of tools(Number(process.env.BENCH_TOOLS))) {
  const { name, title, description, inputSchema, outputSchema } = tool
  const definition = { name, title, description, inputSchema, ...outputSchema && { outputSchema } }
  app.mcpAddTool(definition, async (args) => toolAnswer(tool, args))
}
for (const { name, title, description, argument, text } of prompts()) {
  const definition = { name, title, description, arguments: [{ ...argument, required: true }] }
  app.mcpAddPrompt(definition, async (_, args) => (
    { messages: [{ role: 'user', content: { type: 'text', text: text(args[argument.name]) } }] }
  ))
}
for (const { name, uri, title, mimeType, text } of resources()) {
  app.mcpAddResource({ uri, name, title, mimeType }, async () => ({ contents: [{ uri, mimeType, text }] }))
}

await app.listen({ port: 0, host: '127.0.0.1' })
