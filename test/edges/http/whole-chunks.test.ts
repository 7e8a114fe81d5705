// A stream on the wire, compared with the one that Node writes by itself.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { writeWholeChunks } from '../../../src/edges/http/whole-chunks.ts'
import { until } from '../../helpers/deadline.ts'

type Answer = (response: ServerResponse) => unknown

interface Exchanged {
  /** All that the client received, without the date. */
  readonly received: string
  /** How often Node's own write was called. */
  readonly writes: number
}

const ask = (version = '1.1', connection = 'close') => (
  `GET / HTTP/${version}\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`
)

async function exchange (
  t: Test, answer: Answer, { request = ask(), isWhole = true, onClient = (_: Socket): void => {} } = {}
): Promise<Exchanged> {
  let writes = 0
  const server = createServer((_, response) => {
    response.write = new Proxy(response.write, {
      apply (write, self, args) {
        writes++
        return Reflect.apply(write, self, args)
      }
    })
    if (isWhole) writeWholeChunks(response)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    answer(response)
  })
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write(request)
  onClient(client)
  const chunks: Buffer[] = []
  client.on('data', (chunk) => chunks.push(chunk))
  await once(client, 'end')
  const received = Buffer.concat(chunks).toString('latin1').replaceAll(/^Date: .*\r\n/gm, '')
  return { received, writes }
}

const TEXTS = ['data: a\n\n', 'data: é 五徳 \u{1f600}\n\n', 'data: b\n\n', `data: ${'x'.repeat(300)}\n\n`]

async function sendTexts (response: ServerResponse, texts = TEXTS): Promise<void> {
  for (const text of texts) {
    response.write(Buffer.from(text))
    await turn()
  }
  response.end()
}

t.test('the bytes are those of Node, in fewer writes', async (t) => {
  const own = await exchange(t, sendTexts, { isWhole: false })
  const whole = await exchange(t, sendTexts)
  t.equal(whole.received, own.received)
  t.match(whole.received, '\r\n134\r\ndata: xxx', 'an event of three hexadecimal digits')
  t.equal(own.writes, TEXTS.length)
  t.equal(whole.writes, 1, 'the headers go with the first event')
})

t.test('many events in one turn keep their order', async (t) => {
  const answer: Answer = (response) => {
    for (let event = 0; event < 200; event++) response.write(Buffer.from(`data: ${event}\n\n`))
    response.end('data: last\n\n')
  }
  const own = await exchange(t, answer, { isWhole: false })
  t.equal((await exchange(t, answer)).received, own.received)
})

t.test('events before and after a large one keep their order', async (t) => {
  const texts = ['data: a\n\n', `data: ${'y'.repeat(3_000_000)}\n\n`, 'data: b\n\n', 'data: c\n\n']
  const own = await exchange(t, (response) => sendTexts(response, texts), { isWhole: false })
  t.ok((await exchange(t, (response) => sendTexts(response, texts))).received === own.received)
})

t.test('a client that does not read pauses the stream, which goes on when it reads', async (t) => {
  const source = new Readable({ highWaterMark: 1, read () {} })
  let sent = 0
  const { received } = await exchange(t, (response) => source.pipe(response), {
    onClient (client) {
      client.pause()
      const sending = async () => {
        // The kernel holds a few megabytes. What it does not take waits in the stream.
        for (; source.readableLength < 100_000; sent++) {
          source.push(`data: ${sent} ${'z'.repeat(2000)}\n\n`)
          if (sent % 10 === 0) await turn()
        }
        client.resume()
        await until(() => source.readableLength === 0, 'the events that waited')
        source.push(`data: ${sent++} ${'z'.repeat(2000)}\n\n`)
        source.push(null)
      }
      sending().catch(t.threw)
    }
  })
  const events = [...received.matchAll(/data: (\d+) z{2000}\n\n/g)].map(([, event]) => Number(event))
  t.strictSame(events, Array.from({ length: sent }, (_, event) => event))
})

t.test('a client of HTTP/1.0 gets no chunks', async (t) => {
  const own = await exchange(t, sendTexts, { request: ask('1.0'), isWhole: false })
  const whole = await exchange(t, sendTexts, { request: ask('1.0') })
  t.equal(whole.received, own.received)
  t.equal(whole.writes, TEXTS.length)
})

t.test('a response that waits for the one before it keeps its events', async (t) => {
  const answers: ServerResponse[] = []
  const answer: Answer = async (response) => {
    answers.push(response)
    if (answers.length < 2) return
    const [first, second] = answers as [ServerResponse, ServerResponse]
    for (const text of TEXTS) second.write(Buffer.from(text))
    await sendTexts(first)
    await sendTexts(second)
  }
  const request = ask('1.1', 'keep-alive') + ask()
  const own = await exchange(t, answer, { request, isWhole: false })
  answers.length = 0
  t.equal((await exchange(t, answer, { request })).received, own.received)
})

t.test('a client that has left is written nothing', async (t) => {
  let isLeft = false
  const server = createServer((_, response) => {
    writeWholeChunks(response)
    response.write(Buffer.from('data: a\n\n'))
    response.on('close', () => {
      response.write(Buffer.from('data: b\n\n'))
      isLeft = true
    })
  })
  t.teardown(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write(ask())
  await once(client, 'data')
  client.destroy()
  await until(() => isLeft, 'the end of the response')
})
