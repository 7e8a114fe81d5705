// A bare node:http server that holds responses open. The server acknowledges each response with recorded
// bytes, and writes recorded bytes to all responses on request.

import { createServer } from 'node:http'
import { readFileSync } from 'node:fs'

const answers = JSON.parse(readFileSync(process.env.BENCH_ANSWERS, 'utf8'))
const open = new Set()

const app = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk) => { text += chunk })
  request.on('end', () => {
    if (request.url === '/notify') {
      for (const stream of open) stream.write(answers.notification)
      response.end()
      return
    }
    const { method } = JSON.parse(text)
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    response.write(answers[method])
    open.add(response)
    response.on('close', () => open.delete(response))
  })
})

app.listen(0, '127.0.0.1')
