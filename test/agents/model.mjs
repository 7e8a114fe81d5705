// A model that follows a script: it calls one tool after another, whatever it reads, and keeps what it read.

import { createServer } from 'node:http'
import { once } from 'node:events'
import { DIALECTS } from './dialects.mjs'

/** What agents ask a model beside the conversation, such as a title for it, has few tools. */
const LEAST_TOOLS = 5
/** Agents cut long names in the middle. In letters. */
const LEAST_ALIKE = 15

/**
 * @param {Array<{ tool: string, args: object }>} script
 * @param {{ verbose: boolean }} options
 */
export async function startModel (script, { verbose }) {
  /** @type {import('./dialects.mjs').ModelRequest | undefined} */
  let latest
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const url = new URL(request.url, 'http://localhost')
    const dialect = DIALECTS.find(({ matches }) => matches(url))
    if (verbose) console.error(request.method, request.url, text.length)
    if (dialect === undefined || request.method !== 'POST') return sendModels(response)
    const body = JSON.parse(text)
    const asked = dialect.read(body)
    const isConversation = asked.tools.length >= LEAST_TOOLS
    if (isConversation) latest = asked
    const answer = isConversation ? nextStep(script, asked) : { text: 'A title' }
    const isStream = body.stream === true || url.pathname.includes('stream')
    if (!isStream) return sendWhole(response, dialect, answer)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const { event, data } of dialect.write(answer)) {
      const json = typeof data === 'string' ? data : JSON.stringify(data)
      response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${json}\n\n`)
    }
    response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** What the model was sent last. */
    get latest () { return latest },
    stop () {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** Names are compared as agents write them: with a prefix, other signs, and cut. */
function nextStep (script, { tools, results }) {
  const step = script[results.length]
  if (step === undefined) return { text: 'All done.' }
  // Some agents name their tools only when the model searches for them.
  const { namespace, name } = findTool(step.tool, tools) ?? { name: `mcp__trivet__${step.tool}` }
  return { call: { id: `call_${results.length}`, namespace, name, args: step.args } }
}

/** Finds the tool that an agent has made of one of the service. */
export function findTool (own, tools) {
  const plain = toPlain(own)
  return tools.find(({ name }) => toPlain(name).endsWith(plain)) ??
    tools.find(({ name }) => toPlain(name).includes(plain.slice(0, LEAST_ALIKE)))
}

function toPlain (name) {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '_')
}

function sendModels (response) {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ object: 'list', data: [{ id: 'scripted', object: 'model' }] }))
}

/** Only what is asked beside the conversation wants an answer as a whole. */
function sendWhole (response, dialect, answer) {
  const [{ data }] = [...dialect.write(answer)]
  const message = { role: 'assistant', content: answer.text }
  const body = data.choices === undefined
    ? data
    : { ...data, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
