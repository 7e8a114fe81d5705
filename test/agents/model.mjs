// A model that follows a script: it calls one tool after another, whatever it reads, and keeps what it read.

import { createServer } from 'node:http'
import { once } from 'node:events'
import { DIALECTS } from './dialects.mjs'

/** What agents ask a model beside the conversation, such as a title for it, has few tools. */
const LEAST_TOOLS = 5
/** Agents cut long names in the middle. In letters. */
const LEAST_ALIKE = 15

/**
 * @param {import('./steps.mjs').Step[]} steps
 * @param {(typeof import('./agents.mjs').AGENTS)[string]} agent
 * @param {{ verbose: boolean }} options
 */
export async function startModel (steps, agent, { verbose }) {
  /** @type {import('./dialects.mjs').ModelRequest | undefined} */
  let latest
  let latestText = ''
  const script = createScript(steps, agent)
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
    if (isConversation) [latest, latestText] = [asked, text]
    const answer = isConversation ? script.answer(asked) : { text: 'A title' }
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
    get latestText () { return latestText },
    /** What the model read of each step. */
    get results () { return script.toResults(latest?.results ?? []) },
    stop () {
      server.closeAllConnections()
      server.close()
    }
  }
}

/**
 * Agents repeat what was asked, so a call is decided once for each number of results.
 * @param {import('./steps.mjs').Step[]} steps
 */
function createScript (steps, { shell, search }) {
  /** @type {Array<{ step?: import('./steps.mjs').Step, call: object }>} */
  const calls = []
  const isCalled = (step) => calls.some((call) => call?.step === step)
  const toResults = (results) => steps.map((step) => (
    // Some agents pass on JSON.
    results[calls.findIndex((call) => call?.step === step)]?.replaceAll('\\"', '"').replaceAll('\\n', '\n')
  ))

  const decide = ({ tools, results, instructions }) => {
    const before = toResults(results).filter((result) => result !== undefined).reverse()
    const step = steps.find((step) => !isCalled(step) && toArgs(step, before, shell) !== undefined)
    if (step === undefined) return undefined
    const args = toArgs(step, before, shell)
    const own = step.isOwn ? shell.tool : step.tool
    const { namespace, name } = findTool(own, tools) ?? {}
    if (name !== undefined) return { step, call: { namespace, name, args } }
    const words = instructions.match(/[\w.-]+/g).map((word) => ({ name: word }))
    const hidden = findTool(own, words)?.name ?? own
    const isSearched = search === undefined || (calls.length > 0 && calls.at(-1).step === undefined)
    if (!isSearched) return { call: { name: search.tool, args: { query: `select:${hidden}` } } }
    if (search?.call === undefined) return { step, call: { name: hidden, args } }
    return { step, call: { name: search.call, args: { name: hidden, arguments: args } } }
  }

  return {
    toResults,
    answer (asked) {
      const index = asked.results.length
      calls[index] ??= decide(asked)
      if (calls[index] === undefined) return { text: 'All done.' }
      return { call: { id: `call_${index}`, ...calls[index].call } }
    }
  }
}

function toArgs ({ args, isOwn }, before, shell) {
  const value = typeof args === 'function' ? args(before) : args
  return isOwn && value !== undefined ? shell.toArgs(value) : value
}

/**
 * Finds the tool that an agent has made of one of the service. Names are compared as agents write them: with
 * a prefix, other signs, and cut.
 */
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
