// What clients of this project send, and how they read answers.
// https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header

import t from 'tap'
import { readMessageTexts, toRequestHeaders } from '../../../src/platform/protocol/client-requests.ts'

const annotated = (type: unknown, name: string) => ({ type, 'x-mcp-header': name })

t.test('only valid annotations mirror an argument, and the first of a name', (t) => {
  const schema = {
    properties: {
      text: annotated('string', 'Text'),
      count: annotated('integer', 'Count'),
      ratio: annotated('number', 'Ratio'),
      any: annotated(undefined, 'Any'),
      odd: annotated('string', 'no token'),
      again: annotated('string', 'TEXT'),
      inner: { properties: { isDry: annotated('boolean', 'Dry') } }
    }
  }
  const args = { text: 'a', count: 1, ratio: 0.5, any: 'b', odd: 'c', again: 'd', inner: { isDry: true } }
  const headers = toRequestHeaders('tools/call', { name: 'x', arguments: args }, schema)
  const mirrored = Object.entries(headers).filter(([name]) => name.startsWith('mcp-param-'))
  t.strictSame(mirrored, [['mcp-param-text', 'a'], ['mcp-param-count', '1'], ['mcp-param-dry', 'true']])
  t.end()
})

t.test('an answer is read where the runtime cannot iterate a stream, as in earlier browsers', async (t) => {
  const { prototype } = ReadableStream
  const iterate = Object.getOwnPropertyDescriptor(prototype, Symbol.asyncIterator)
  t.ok(Reflect.deleteProperty(prototype, Symbol.asyncIterator))
  t.teardown(() => { Object.defineProperty(prototype, Symbol.asyncIterator, iterate ?? {}) })
  const read = async (type: string, body: string) => {
    const texts: string[] = []
    const response = new Response(body, { headers: { 'content-type': type } })
    for await (const text of readMessageTexts(response, 100)) texts.push(text)
    return texts
  }
  t.strictSame(await read('application/json', '{"a":"ä"}'), ['{"a":"ä"}'])
  t.strictSame(await read('text/event-stream', 'data: 1\n\ndata: 2\n\n'), ['1', '2'])
  t.strictSame(await read('text/plain', 'a'), [])
  await t.rejects(read('application/json', 'x'.repeat(101)), /longer than 100 characters/)
})

t.test('a reader that stops early cancels the answer', async (t) => {
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
    cancel () { isCancelled = true }
  })
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  const texts = readMessageTexts(response, 100)
  t.strictSame(await texts.next(), { done: false, value: '1' })
  await texts.return(undefined)
  t.ok(isCancelled)
})
