// The reference of the yardsticks: a bare Fastify route that parses the same body, does the work of the tool,
// and makes its own answer with the id of the request. The route checks nothing. With BENCH_LOG=info, pino
// writes one log line for each request.

import fastify, { LogController } from 'fastify'
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { prompts, tools } from '../catalog/definitions.mjs'
import { WORK } from '../catalog/work.mjs'

/**
 * Results as Trivet writes them. `lists` and `reads` are whole results. `rests` are the members of results
 * beside the content.
 */
const { tools: toolCount, lists, reads, rests } = JSON.parse(readFileSync(process.env.BENCH_ANSWERS, 'utf8'))
const isLogging = process.env.BENCH_LOG === 'info'

/**
 * From this length on, bytes are faster than a text, because a text is encoded again for each answer. A
 * shorter text is faster, because Node sends it together with the headers.
 */
const LEAST_BUFFER = 4096
const kinds = new Map(tools(toolCount).map(({ name, kind }) => [name, kind]))
const texts = new Map(prompts().map(({ name, text }) => [name, text]))
const listResult = ready(lists)
const readResults = new Map(Object.entries(reads).map(([uri, result]) => [uri, ready(result)]))
const METHODS = {
  'tools/list': () => listResult,
  'tools/call': ({ name, arguments: args }) => {
    const output = WORK[kinds.get(name)](name, args)
    const text = typeof output === 'string' ? output : JSON.stringify(output)
    const structuredContent = typeof output === 'string' ? undefined : output
    return JSON.stringify({ ...rests['tools/call'], content: [{ type: 'text', text }], structuredContent })
  },
  'prompts/get': ({ name, arguments: { subject } }) => {
    const text = texts.get(name)(subject)
    const messages = [{ role: 'user', content: { type: 'text', text } }]
    return JSON.stringify({ ...rests['prompts/get'], messages })
  },
  'resources/read': ({ uri }) => readResults.get(uri) ?? readAnew(uri)
}

const app = fastify({
  logger: isLogging ? { level: 'info' } : false,
  logController: new LogController({ disableRequestLogging: true })
})

app.post('/mcp', (request, reply) => {
  const { id, method, params } = request.body
  const result = METHODS[method](params)
  reply.header('content-type', 'application/json')
  if (result instanceof Promise) return result.then((settled) => respond(reply, id, settled))
  respond(reply, id, result)
})

if (isLogging) {
  app.addHook('onResponse', (request, reply, done) => {
    const { method, params } = request.body
    const durationMs = Math.round(reply.elapsedTime * 100) / 100
    const name = params.name ?? params.uri
    request.log.info({ method, name, status: reply.statusCode, durationMs }, 'request')
    done()
  })
}

await app.listen({ port: 0, host: '127.0.0.1' })

function ready (result) {
  return Buffer.byteLength(result) < LEAST_BUFFER ? result : Buffer.from(result)
}

function respond (reply, id, result) {
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`
  if (typeof result === 'string') return reply.send(`${head}${result}}`)
  sendReady(reply, head, result)
  return reply
}

/** Writes the bytes between two texts, without a copy of them. */
function sendReady (reply, head, result) {
  const { raw } = reply
  const { writeHead, end } = raw
  const length = Buffer.byteLength(head) + result.length + 1
  raw.writeHead = (status, headers) => writeHead.call(raw, status, { ...headers, 'content-length': length })
  raw.end = () => {
    raw.socket.cork()
    raw.write(head)
    raw.write(result)
    end.call(raw, '}')
    raw.socket.uncork()
  }
  reply.send(result)
}

/** Reads a file of the catalog for this request. */
async function readAnew (uri) {
  const bytes = await readFile(process.env.BENCH_FILES + fileURLToPath(uri))
  const content = uri.endsWith('.txt')
    ? { uri, mimeType: 'text/plain', text: bytes.toString() }
    : { uri, mimeType: 'application/octet-stream', blob: bytes.toString('base64') }
  return JSON.stringify({ ...rests['resources/read'], contents: [content] })
}
