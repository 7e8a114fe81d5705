// Registers the tools, prompts and resources with a server of the official SDK.

import { prompts, resources, tools } from '../catalog/definitions.mjs'
import { WORK } from '../catalog/work.mjs'

const data = { tools: tools(Number(process.env.BENCH_TOOLS)), prompts: prompts(), resources: resources() }

/** @param {{ toolInput: Function, toolOutput: Function, promptInput: Function }} schemas */
export function registerAll (server, { toolInput, toolOutput, promptInput }) {
  for (const tool of data.tools) {
    const { name, title, description } = tool
    const outputSchema = toolOutput(tool)
    const config = { title, description, inputSchema: toolInput(tool), ...outputSchema && { outputSchema } }
    server.registerTool(name, config, async (args) => toolAnswer(tool, args))
  }
  for (const prompt of data.prompts) {
    const { name, title, description, argument, text } = prompt
    server.registerPrompt(name, { title, description, argsSchema: promptInput(prompt) }, (args) => (
      { messages: [{ role: 'user', content: { type: 'text', text: text(args[argument.name]) } }] }
    ))
  }
  for (const { name, uri, title, mimeType, text } of data.resources) {
    server.registerResource(name, uri, { title, mimeType }, async (url) => (
      { contents: [{ uri: url.href, mimeType, text }] }
    ))
  }
}

/** The output of a tool, as a result of the protocol. */
export function toolAnswer ({ name, kind }, args) {
  const output = WORK[kind](name, args)
  if (typeof output === 'string') return { content: [{ type: 'text', text: output }] }
  return { content: [{ type: 'text', text: JSON.stringify(output) }], structuredContent: output }
}
