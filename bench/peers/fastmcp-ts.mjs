// A server of @prefecthq/fastmcp-ts, written as its documentation shows.

import { FastMCP } from '@prefecthq/fastmcp-ts/server'
import { prompts, resources, SERVER, tools } from '../catalog/definitions.mjs'
import { WORK } from '../catalog/work.mjs'
import { toolInput, toolOutput } from '../servers/zod-schemas.mjs'

const server = new FastMCP(SERVER)

for (const tool of tools(Number(process.env.BENCH_TOOLS))) {
  const { name, kind, title, description } = tool
  const output = toolOutput(tool)
  const config = { name, title, description, input: toolInput(tool), ...output && { output } }
  server.tool(config, (args) => WORK[kind](name, args))
}
for (const { name, title, description, argument, text } of prompts()) {
  const config = { name, title, description, arguments: [{ ...argument, required: true }] }
  server.prompt(config, (args) => text(args[argument.name]))
}
for (const { name, uri, title, mimeType, text } of resources()) {
  server.resource({ uri, name, title, mimeType }, () => text)
}

await server.run({ transport: 'http', port: 0, host: '127.0.0.1' })
