// A Fastify route written by hand for this one catalog, with the checks that Trivet makes of each request:
// the floor of their cost. Its answers are those of bare Fastify. pino writes one log line for each request.

import fastify, { LogController } from 'fastify'
import { tools } from '../catalog/definitions.mjs'
import { WORK } from '../catalog/work.mjs'
import {
  listResult, respond, toCallResult, toolCount, toPromptResult, toReadResult
} from './fastify-answers.mjs'
import {
  checkEnvelope, checkHeaders, checkOrigin, checkPromptArguments, compileTool, Refusal
} from './fastify-checks.mjs'
import { countCall, networkOf, startCall } from './fastify-limits.mjs'

const INVALID_REQUEST = -32600
const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603

const compiled = new Map(tools(toolCount).map((tool) => [tool.name, compileTool(tool)]))
const METHODS = new Map(Object.entries({
  'tools/list': () => listResult,
  'tools/call': callTool,
  'prompts/get': ({ name, arguments: args }) => {
    checkPromptArguments(args)
    return toPromptResult(name, args.subject) ?? refuse(`Unknown prompt: ${name}`)
  },
  'resources/read': ({ uri }) => toReadResult(uri) ?? refuse(`Unknown resource: ${uri}`)
}))

const app = fastify({
  logger: { level: 'info' },
  logController: new LogController({ disableRequestLogging: true })
})
app.removeContentTypeParser('text/plain')
app.decorateRequest('outcome', 'ok')
app.decorateRequest('endCall', undefined)

app.addHook('onRequest', (request, reply, done) => {
  checkOrigin(request.headers)
  done()
})

app.post('/mcp', (request, reply) => {
  const { body, headers } = request
  checkEnvelope(body)
  checkHeaders(headers, body)
  const { id, method, params } = body
  const serve = METHODS.get(method)
  if (serve === undefined) throw new Refusal(404, METHOD_NOT_FOUND, `Method not found: ${method}`)
  respond(reply, id, serve(params, request))
})

app.addHook('onResponse', (request, reply, done) => {
  request.endCall?.()
  const { method, params = {} } = request.body ?? {}
  const durationMs = Math.round(reply.elapsedTime * 100) / 100
  const name = params.name ?? params.uri
  const { outcome } = request
  request.log.info({ method, name, status: reply.statusCode, outcome, durationMs }, 'request')
  done()
})

app.setErrorHandler((error, request, reply) => {
  const isExpected = error instanceof Refusal || error.statusCode < 500
  request.outcome = isExpected ? 'refused' : 'failed'
  if (!isExpected) request.log.error({ err: error }, 'request failed')
  const code = error instanceof Refusal ? error.code : isExpected ? INVALID_REQUEST : INTERNAL_ERROR
  const message = isExpected ? error.message : 'Internal error'
  reply.code(isExpected ? error.statusCode : 500)
  return { jsonrpc: '2.0', id: request.body?.id, error: { code, message } }
})

await app.listen({ port: 0, host: '127.0.0.1' })

function callTool ({ name, arguments: args = {} }, request) {
  const tool = compiled.get(name) ?? refuse(`Unknown tool: ${name}`)
  const network = networkOf(request.ip)
  countCall(network)
  request.endCall = startCall(network)
  if (!tool.acceptsInput(args)) return toToolError(`Invalid arguments: ${tool.complain()}`, request)
  const output = WORK[tool.kind](name, args)
  tool.checkOutput(output)
  return toCallResult(output)
}

function toToolError (text, request) {
  request.outcome = 'tool_error'
  return JSON.stringify({ content: [{ type: 'text', text }], isError: true })
}

function refuse (message) {
  throw new Refusal(200, INVALID_PARAMS, message)
}
