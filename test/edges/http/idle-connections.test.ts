// What a connection holds between two requests.

import { connect, type AddressInfo, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { lastExchangeOf } from '../../../src/edges/http/connections/client-errors.ts'
import { createFastify } from '../../../src/edges/http/fastify.ts'
import { buildApp, listen } from '../../helpers/app.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { toPost } from '../../helpers/request.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

const CONNECTIONS = 30
const ANSWER_BYTES = 1_000_000
const FILES = {
  'tools/large.ts': `import { defineTool } from 'trivet'
export default defineTool({
  name: 'large', description: 'x', inputSchema: { type: 'object' }, run: () => Math.random() + 'x'.repeat(${ANSWER_BYTES})
})`
}

/** Sends a request on a connection, and resolves when its answer has come whole. */
async function ask (t: Test, port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => { socket.destroy() })
  let bytes = 0
  socket.on('data', (piece) => { bytes += piece.length })
  socket.write(text)
  await until(() => bytes > ANSWER_BYTES, 'the answer')
  return socket
}

t.test('an idle connection does not hold the text of its last answer', async (t) => {
  const url = new URL(await listen(await buildApp(t, FILES)))
  const { headers, body } = toPost({ method: 'tools/call', params: { name: 'large', arguments: {} } })
  const lines = Object.entries({ ...headers, host: url.host, 'content-length': body.length })
  const text = `POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
  await ask(t, Number(url.port), text)
  collect()
  const before = process.memoryUsage().heapUsed
  for (let count = 0; count < CONNECTIONS; count++) await ask(t, Number(url.port), text)
  const perConnection = () => {
    collect()
    return (process.memoryUsage().heapUsed - before) / CONNECTIONS
  }
  await until(() => perConnection() < ANSWER_BYTES / 10, 'the texts to be dropped')
  t.ok(perConnection() < ANSWER_BYTES / 10, `${perConnection()} bytes`)
})

t.test('the last request of a connection is forgotten when it is over', async (t) => {
  const app = createFastify(createReadableLog('info').logger)
  const sockets: Socket[] = []
  let isRemembered = false
  app.get('/', ({ raw: { socket } }) => {
    sockets.push(socket)
    isRemembered = lastExchangeOf(socket) !== undefined
    return ''
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(async () => await app.close())
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => { client.destroy() })
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(2))
  await until(() => sockets.length === 2, 'both requests')
  t.ok(isRemembered)
  await until(() => sockets.every((socket) => lastExchangeOf(socket) === undefined), 'the end')
  t.notOk(sockets[0]?.destroyed)
})
