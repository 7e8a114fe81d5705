// A server of fastmcp, written as its documentation shows. It keeps a session for each client.

import { FastMCP } from 'fastmcp'
import { prompts, resources, SERVER, tools } from '../catalog/definitions.mjs'
import { WORK } from '../catalog/work.mjs'
import { toolInput, toolOutput } from '../servers/zod-schemas.mjs'

const silent = () => {}
const logger = { debug: silent, error: silent, info: silent, log: silent, warn: silent }
const server = new FastMCP({ ...SERVER, logger })

for (const tool of tools(Number(process.env.BENCH_TOOLS))) {
  const { name, kind, title, description } = tool
  const outputSchema = toolOutput(tool)
  const config = { parameters: toolInput(tool), ...outputSchema && { outputSchema } }
  const execute = async (args) => WORK[kind](name, args)
  server.addTool({ name, description, annotations: { title }, ...config, execute })
}
for (const { name, description, argument, text } of prompts()) {
  const load = async (args) => text(args[argument.name])
  server.addPrompt({ name, description, arguments: [{ ...argument, required: true }], load })
}
for (const { name, uri, mimeType, text } of resources()) {
  server.addResource({ uri, name, mimeType, load: async () => ({ text }) })
}

await server.start({ transportType: 'httpStream', httpStream: { host: '127.0.0.1', port: 0 } })
