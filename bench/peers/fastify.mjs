// What the yardsticks refer to: a bare Fastify route that parses the body and sends the recorded answer, a string, as a
// handler would that had its answers ready.

import fastify from 'fastify'
import { answers } from './answers.mjs'

const app = fastify({ logger: false })

app.post('/mcp', (request, reply) => {
  reply.header('content-type', 'application/json').send(answers[request.body.method])
})

console.log(`${await app.listen({ port: 0, host: '127.0.0.1' })}/mcp`)
