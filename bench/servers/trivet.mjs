// Starts builds of Trivet, at their default settings except for the port and the catalog. Most sections keep
// the service busy on purpose: for them it refuses nothing because of the loop's delay, and
// counts no rates of callers: all load is of one.

import { mkdir, writeFile } from 'node:fs/promises'
import { resources } from '../catalog/definitions.mjs'
import { ask } from '../requests/answers.mjs'
import { modernRequest } from '../requests/messages.mjs'
import { workspacePath } from '../workspace.mjs'
import { startServer } from './server-process.mjs'

const BUSY = { TRIVET_OVERLOAD: 'off', TRIVET_MAX_CALLS_PER_CALLER: 'off' }

const CALL = { name: 'tool_0000', arguments: { query: 'x' } }
const PROMPT = { name: 'prompt_00', arguments: { subject: 'x' } }

/**
 * @param {{ main: string, node?: string, catalog: string, settings?: Record<string, string> }} options
 *   `main`: the entry file of the build; `settings`: environment variables that differ from the defaults
 */
export async function startTrivet (options) {
  return startServer(await trivetToStart(options))
}

/** Makes the options of `startServer`. */
export async function trivetToStart ({ main, node, catalog, settings = {} }) {
  // Trivet keeps its state in the working directory.
  const cwd = workspacePath('cwd')
  await mkdir(cwd)
  return { node, file: main, cwd, env: { PORT: '0', TRIVET_CATALOG: catalog, ...BUSY, ...settings } }
}

/**
 * Records the answers of Trivet, so that bare Fastify can give the same answers.
 *
 * @returns {Promise<string>} the path of the file with the answers
 */
export async function recordAnswers ({ main, catalog, toolCount }) {
  const { url, stop } = await startTrivet({ main, catalog })
  try {
    const result = (method, params) => ask(url, modernRequest(method, params))
    const { content, structuredContent, ...callRest } = await result('tools/call', CALL)
    const { messages, ...promptRest } = await result('prompts/get', PROMPT)
    const reads = {}
    for (const { uri } of resources()) reads[uri] = JSON.stringify(await result('resources/read', { uri }))
    const { contents, ...readRest } = JSON.parse(Object.values(reads)[0])
    const rests = { 'tools/call': callRest, 'prompts/get': promptRest, 'resources/read': readRest }
    const lists = JSON.stringify(await result('tools/list', {}))
    const file = workspacePath('answers.json')
    await writeFile(file, JSON.stringify({ tools: toolCount, lists, reads, rests }))
    return file
  } finally {
    await stop()
  }
}
