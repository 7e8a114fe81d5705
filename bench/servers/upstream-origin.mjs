// A service that tools call: answers /small with 1 kB of JSON, and /large with 100 kB. Prints its URL.

import { createServer } from 'node:http'

const bodyOf = (bytes) => JSON.stringify({ text: 'x'.repeat(bytes - 11) })
const BODIES = new Map([['/small', bodyOf(1000)], ['/large', bodyOf(100_000)]])

const server = createServer(({ url }, response) => {
  response.setHeader('content-type', 'application/json')
  response.end(BODIES.get(url))
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
