// Clients that send a part of their headers, and then nothing.

import { createServer, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { rememberExchanges } from '../../../src/edges/http/connections/client-errors.ts'
import { limitConnections } from '../../../src/edges/http/connections/connections.ts'
import { ArrivingBytes } from '../../../src/platform/limits/arriving-bytes.ts'
import { Limit } from '../../../src/platform/limits/limits.ts'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { toPost } from '../../helpers/request.ts'
import { startService } from '../../helpers/service.ts'

const half = (bytes: number) => `GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(bytes)}`
/** They send 46 MB of headers. */
const CLIENTS = 3000
/** Longer than two counts of the bytes. */
const COUNTED_MS = 1500

async function serve (t: Test, max: number) {
  const refused: string[] = []
  const server: Server = createServer((request, response) => {
    request.resume()
    if (request.url !== '/waits') response.end('done')
  })
  rememberExchanges(server)
  limitConnections(server, {
    maxConnections: 100,
    headerBytes: new ArrivingBytes(new Limit('arrivingHeaders', max)),
    isProxy: () => false,
    onStalled () {},
    onRefused: ({ message }) => refused.push(message)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const closed: string[] = []
  return {
    refused,
    closed,
    open (name: string, text: string): Socket {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').resume()
      socket.on('error', () => {}).on('close', () => closed.push(name))
      t.teardown(() => { socket.destroy() })
      socket.write(text)
      return socket
    }
  }
}

t.test('beyond the limit the oldest give way, and short headers do not count', async (t) => {
  const { open, closed, refused } = await serve(t, 30_000)
  open('short', half(2000))
  open('first', half(5000)).write('y'.repeat(5000))
  await pause(COUNTED_MS)
  open('second', half(10_000))
  await pause(COUNTED_MS)
  t.strictSame(closed, [])
  open('third', `GET / HTTP/1.1\r\nHost: localhost\r\n\r\n${half(15_000)}`)
  await until(() => closed.length > 0, 'the end of one')
  await pause(COUNTED_MS)
  t.strictSame(closed, ['first'], 'also one that was served before')
  t.match(refused, [/^Too many bytes of headers that have not come whole on this replica \(30000\)/])
  t.equal(refused.length, 1)
})

t.test('a connection that is served keeps its bytes, and whole headers free them', async (t) => {
  const { open, closed } = await serve(t, 20_000)
  const post = (path: string) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n`
  open('waits for its answer', post('/waits') + 'x'.repeat(100_000))
  open('sends its body', post('/') + 'x'.repeat(50_000))
  const slow = open('sends its headers slowly', half(10_000))
  await pause(COUNTED_MS)
  slow.write('\r\n\r\n')
  await pause(COUNTED_MS)
  open('other', half(15_000))
  await pause(COUNTED_MS)
  t.strictSame(closed, [])
})

t.test('the service holds a part of the headers that many clients send', { timeout: 120_000 }, async (t) => {
  const { url } = await startService(t, {
    TRIVET_CATALOG: await writeCatalog(t, { 'tools/small.ts': toolModule('small') }),
    TRIVET_LOG_LEVEL: 'error'
  })
  const { port, host } = new URL(url)
  const text = half(15_500).replace('localhost', host)
  let held = 0
  for (let count = 0; count < CLIENTS; count++) {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(text)
      held++
    })
    socket.resume().on('error', () => {}).on('close', () => { held-- })
    t.teardown(() => { socket.destroy() })
    if (count % 100 === 0) await pause(10)
  }
  await until(() => held < 2200, 'the end of those beyond 32 MiB')
  t.ok(held > 1900, `${held} of ${CLIENTS} connections are open`)
  const { headers, body } = toPost({ method: 'tools/call', params: { name: 'small' } })
  t.equal((await fetch(url, { method: 'POST', headers, body })).status, 200)
})
