// Answers on the wire, compared with those of Node's own class.

import { once } from 'node:events'
import { createServer, ServerResponse, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { WholeResponse } from '../../../src/edges/http/server-response.ts'

type Answer = (response: ServerResponse) => void

interface Exchanged {
  /** All that the client received, without the date. */
  readonly received: string
  /** The events of the answers, in their order. */
  readonly events: readonly string[]
  /** How often the socket was written to. */
  readonly writes: number
}

async function exchange (
  t: Test, ResponseClass: typeof ServerResponse, requests: string, answer: Answer
): Promise<Exchanged> {
  const events: string[] = []
  let writes = 0
  const options = { ServerResponse: ResponseClass }
  const server = createServer(options, (_: IncomingMessage, response: ServerResponse) => {
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
  const received = Buffer.concat(chunks).toString('latin1').replaceAll(/^Date: .*\r\n/gm, '')
  return { received, events, writes }
}

const ask = (method: string, close = true, version = '1.1') => (
  `${method} / HTTP/${version}\r\nHost: a\r\n${close ? 'Connection: close\r\n' : ''}\r\n`
)
const head = (response: ServerResponse, text: string, status = 200) => response.writeHead(status, {
  'content-type': 'text/plain', 'content-length': Buffer.byteLength(text)
})
const LARGE = 'é'.repeat(3_000_000)
const THREE = ask('POST', false) + ask('POST', false) + ask('POST')

const CASES: ReadonlyArray<readonly [answer: string, requests: string, Answer]> = [
  ['a text', ask('POST'), (response) => head(response, 'text').end('text')],
  ['a text and null', ask('POST'), (response) => {
    Reflect.apply(head(response, 'text').end, response, ['text', null, null])
  }],
  ['text that is not ASCII', ask('POST'), (response) => head(response, 'é€😀').end('é€😀')],
  ['an empty text', ask('POST'), (response) => head(response, '').end('')],
  ['more than a socket takes at once', ask('POST'), (response) => head(response, LARGE).end(LARGE)],
  ['a text without a length', ask('POST'), (response) => response.writeHead(200).end('text')],
  ['a text before the headers', ask('POST'), (response) => response.end('text')],
  ['a text for an old client', ask('POST', true, '1.0'), (response) => response.writeHead(200).end('text')],
  ['the answer to HEAD', ask('HEAD'), (response) => head(response, 'text').end('text')],
  ['no content', ask('POST'), (response) => response.writeHead(204).end('text')],
  ['not modified', ask('GET'), (response) => response.writeHead(304).end('text')],
  ['bytes', ask('POST'), (response) => head(response, 'text').end(Buffer.from('text'))],
  ['a text with its encoding', ask('POST'), (response) => {
    response.writeHead(200, { 'content-length': 1 }).end('é', 'latin1')
  }],
  ['a text that was written before the end', ask('POST'), (response) => {
    head(response, 'text').write('text')
    response.end()
  }],
  ['two texts', ask('POST'), (response) => {
    head(response, 'texttext').write('text')
    response.end('text')
  }],
  ['a text after the end', ask('POST'), (response) => {
    head(response, 'text').end('text')
    response.end('text')
  }],
  ['a text on a corked socket', ask('POST'), (response) => {
    response.socket?.cork()
    head(response, 'text').end('text')
    response.socket?.uncork()
  }],
  ['three texts at once', THREE, (response) => { head(response, 'text').end('text') }],
  ['three late texts', THREE, (response) => { setImmediate(() => head(response, 'text').end('text')) }]
]

for (const [name, requests, answer] of CASES) {
  t.test(`sends what Node sends: ${name}`, async (t) => {
    const own = await exchange(t, WholeResponse, requests, answer)
    const nodes = await exchange(t, ServerResponse, requests, answer)
    t.equal(own.received, nodes.received)
    t.match(own.received, /^HTTP\/1\.1 /)
    t.strictSame(own.events, nodes.events)
  })
}

t.test('writes a whole answer at once', async (t) => {
  const answer: Answer = (response) => head(response, 'text').end('text')
  t.equal((await exchange(t, WholeResponse, ask('POST'), answer)).writes, 1)
})

t.test('tells its end, and a client that is gone, as Node does', async (t) => {
  const told: Answer = (response) => {
    head(response, 'text').end('text', () => response.emit('error', new Error('told')))
  }
  const gone: Answer = (response) => {
    response.socket?.destroy()
    setImmediate(() => head(response, 'text').end('text'))
  }
  for (const [answer, event] of [[told, 'error'], [gone, 'close']] as const) {
    const { events } = await exchange(t, WholeResponse, ask('POST'), answer)
    t.ok(events.includes(event))
    t.strictSame(events, (await exchange(t, ServerResponse, ask('POST'), answer)).events)
  }
})
