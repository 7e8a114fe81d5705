// Answers as they stand on the wire: those of Node's own class are what is right.

import { once } from 'node:events'
import { createServer, ServerResponse as NodeServerResponse, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ServerResponse } from '../../src/http/server-response.ts'

type Answer = (response: NodeServerResponse) => void

interface Exchanged {
  /** All that came, but for the date. */
  readonly received: string
  /** What became of the answers, in its order. */
  readonly events: readonly string[]
  /** How often each answer's socket was written to. */
  readonly writes: number
}

async function exchange (t: Test, ResponseClass: typeof NodeServerResponse, requests: string, answer: Answer): Promise<Exchanged> {
  const events: string[] = []
  let writes = 0
  const server = createServer({ ServerResponse: ResponseClass }, (_: IncomingMessage, response: NodeServerResponse) => {
    for (const name of ['finish', 'close', 'error']) response.on(name, () => events.push(name))
    answer(response)
    events.push(`ended ${response.writableEnded}`)
  })
  server.on('connection', (socket) => {
    socket.write = new Proxy(socket.write, {
      apply (write, self, args) {
        writes++
        return Reflect.apply(write, self, args)
      }
    })
  })
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  client.write(requests)
  const chunks: Buffer[] = []
  for await (const chunk of client) chunks.push(chunk)
  await pause(5)
  return { received: Buffer.concat(chunks).toString('latin1').replaceAll(/^Date: .*\r\n/gm, ''), events, writes }
}

const ask = (method: string, close = true, version = '1.1') => `${method} / HTTP/${version}\r\nHost: a\r\n${close ? 'Connection: close\r\n' : ''}\r\n`
const head = (response: NodeServerResponse, text: string | Buffer, status = 200) => response.writeHead(status, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(text) })
const LARGE = 'é'.repeat(3_000_000)

const CASES: ReadonlyArray<readonly [string, string, Answer]> = [
  ['a text', ask('POST'), (response) => head(response, 'text').end('text')],
  ['nothing but null beside it', ask('POST'), (response) => Reflect.apply(head(response, 'text').end, response, ['text', null, null])],
  ['text that is not ASCII', ask('POST'), (response) => head(response, 'é€😀').end('é€😀')],
  ['an empty text', ask('POST'), (response) => head(response, '').end('')],
  ['more than a socket takes at once', ask('POST'), (response) => head(response, LARGE).end(LARGE)],
  ['no length', ask('POST'), (response) => response.writeHead(200).end('text')],
  ['no headers yet', ask('POST'), (response) => response.end('text')],
  ['an old client', ask('POST', true, '1.0'), (response) => response.writeHead(200).end('text')],
  ['HEAD', ask('HEAD'), (response) => head(response, 'text').end('text')],
  ['no content', ask('POST'), (response) => response.writeHead(204).end('text')],
  ['not modified', ask('GET'), (response) => response.writeHead(304).end('text')],
  ['bytes', ask('POST'), (response) => head(response, 'text').end(Buffer.from('text'))],
  ['an encoding', ask('POST'), (response) => response.writeHead(200, { 'content-length': 1 }).end('é', 'latin1')],
  ['nothing more', ask('POST'), (response) => { head(response, 'text').write('text'); response.end() }],
  ['a text after another', ask('POST'), (response) => { head(response, 'texttext').write('text'); response.end('text') }],
  ['a text after the end', ask('POST'), (response) => { head(response, 'text').end('text'); response.end('text') }],
  ['a socket that somebody corked', ask('POST'), (response) => { response.socket?.cork(); head(response, 'text').end('text'); response.socket?.uncork() }],
  ['three at once', ask('POST', false) + ask('POST', false) + ask('POST'), (response) => { head(response, 'text').end('text') }],
  ['three at once, answered late', ask('POST', false) + ask('POST', false) + ask('POST'), (response) => { setImmediate(() => head(response, 'text').end('text')) }]
]

for (const [name, requests, answer] of CASES) {
  t.test(`is what Node sends: ${name}`, async (t) => {
    const own = await exchange(t, ServerResponse, requests, answer)
    const nodes = await exchange(t, NodeServerResponse, requests, answer)
    t.equal(own.received, nodes.received)
    t.match(own.received, /^HTTP\/1\.1 /)
    t.strictSame(own.events, nodes.events)
  })
}

t.test('is written at once where it is whole', async (t) => {
  t.equal((await exchange(t, ServerResponse, ask('POST'), (response) => head(response, 'text').end('text'))).writes, 1)
})

t.test('says what Node says of its end, and of a client that is gone', async (t) => {
  const told: Answer = (response) => head(response, 'text').end('text', () => response.emit('error', new Error('told')))
  const gone: Answer = (response) => {
    response.socket?.destroy()
    setImmediate(() => head(response, 'text').end('text'))
  }
  for (const [answer, event] of [[told, 'error'], [gone, 'close']] as const) {
    const { events } = await exchange(t, ServerResponse, ask('POST'), answer)
    t.ok(events.includes(event))
    t.strictSame(events, (await exchange(t, NodeServerResponse, ask('POST'), answer)).events)
  }
})
