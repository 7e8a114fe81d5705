// The ceiling of all: bare node:http that parses the body and sends recorded bytes, from Buffers. That is never slower
// than from strings, and for a list of 50 tools much faster.

import { createServer } from 'node:http'
import { answers } from './answers.mjs'

const bytes = Object.fromEntries(Object.entries(answers).map(([method, text]) => [method, Buffer.from(text)]))

const app = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk) => { text += chunk })
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end(bytes[JSON.parse(text).method])
  })
})

app.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${app.address().port}/mcp`))
