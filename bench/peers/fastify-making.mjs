// A bare Fastify route that does the tool's work in each call and serialises what comes of it, the text copy included: what
// is left of the ceiling when an answer is made, and not only sent.

import fastify from 'fastify'
import { search } from '../search.mjs'
import { answers } from './answers.mjs'

const app = fastify({ logger: false })
const { result: { content, structuredContent, ...rest } } = JSON.parse(answers['tools/call'])

app.post('/mcp', (request, reply) => {
  const { id, params } = request.body
  const output = search(params.name, params.arguments)
  const result = { ...rest, content: [{ type: 'text', text: JSON.stringify(output) }], structuredContent: output }
  reply.header('content-type', 'application/json').send(JSON.stringify({ jsonrpc: '2.0', id, result }))
})

console.log(`${await app.listen({ port: 0, host: '127.0.0.1' })}/mcp`)
