// The reference of the yardsticks: a bare Fastify route that parses the same body, does the work of the tool,
// and makes its own answer with the id of the request. The route checks nothing. With BENCH_LOG=info, pino
// writes one log line for each request.

import fastify, { LogController } from 'fastify'
import { tools } from '../catalog/definitions.mjs'
import { WORK } from '../catalog/work.mjs'
import {
  listResult, readAnew, respond, toCallResult, toolCount, toPromptResult, toReadResult
} from './fastify-answers.mjs'

const isLogging = process.env.BENCH_LOG === 'info'

const kinds = new Map(tools(toolCount).map(({ name, kind }) => [name, kind]))
const METHODS = {
  'tools/list': () => listResult,
  'tools/call': ({ name, arguments: args }) => toCallResult(WORK[kinds.get(name)](name, args)),
  'prompts/get': ({ name, arguments: { subject } }) => toPromptResult(name, subject),
  'resources/read': ({ uri }) => toReadResult(uri) ?? readAnew(uri)
}

const app = fastify({
  logger: isLogging ? { level: 'info' } : false,
  logController: new LogController({ disableRequestLogging: true })
})

app.post('/mcp', (request, reply) => {
  const { id, method, params } = request.body
  const result = METHODS[method](params)
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
