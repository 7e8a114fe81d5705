// Answers and requests of megabytes, over a real socket. They are made and read in several turns.

import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { buildApp, listen } from '../../helpers/app.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { toPost } from '../../helpers/request.ts'
import { post } from '../../helpers/stream.ts'

const LINE = 'It "never" wobbles.\\tEin Dreifuß wackelt nicht. 五徳\u{1f600}\\n'
const TEXT = `'${LINE}'.repeat(20_000)`
const text = LINE.replaceAll('\\t', '\t').replaceAll('\\n', '\n').repeat(20_000)
const rows = Array.from({ length: 30_000 }, (_, id) => ({ id, name: `row ${id}`, price: id / 7 }))

const FILES = {
  'resources/large.txt': text,
  'tools/large.ts': `import { defineTool, toolResult } from 'trivet'
const inputSchema = { type: 'object', properties: { text: { type: 'string' } } }
const text = ${TEXT}
const rows = Array.from({ length: 30_000 }, (_, id) => ({ id, name: 'row ' + id, price: id / 7 }))
export const plain = defineTool({ name: 'plain', description: 'x', inputSchema, run: () => text })
export const unsafe = defineTool({ name: 'unsafe', description: 'x', inputSchema, run: () => text + '\\x1b[31m' + text })
export const structured = defineTool({ name: 'structured', description: 'x', inputSchema, run: () => ({ rows }) })
export const explicit = defineTool({
  name: 'explicit',
  description: 'x',
  inputSchema,
  run () {
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
    setImmediate(() => { image.data = 'not base64' })
    const content = [{ type: 'text', text }, image, { type: 'text', text: 'small' }, { type: 'text', text }]
    return toolResult({ content, structuredContent: { rows } })
  }
})
export const pictured = defineTool({
  name: 'pictured',
  description: 'x',
  inputSchema,
  run () {
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
    setImmediate(() => { image.data = 'not base64' })
    return toolResult({ content: [image], structuredContent: { rows } })
  }
})
export const length = defineTool({ name: 'length', description: 'x', inputSchema, run: ({ text }) => String(text.length) })
`
}

const call = (name: string, args = {}) => (
  { id: 1, method: 'tools/call', params: { name, arguments: args } }
)

t.test('large answers arrive whole, with their length', async (t) => {
  const url = await listen(await buildApp(t, FILES, { maxBodyBytes: 20_000_000 }))
  const result = async (message: Parameters<typeof post>[2]) => {
    const { headers, response } = await post(t, url, message)
    t.equal(headers['content-length'], String(Buffer.byteLength(JSON.stringify(response))))
    return response.result
  }
  const read = await result({ id: 1, method: 'resources/read', params: { uri: 'file:///large.txt' } })
  t.ok(read.contents[0].text === text)
  t.match(read.contents[0], { uri: 'file:///large.txt', mimeType: 'text/plain' })
  t.ok((await result(call('plain'))).content[0].text === text)
  t.ok((await result(call('unsafe'))).content[0].text === text + text, 'without the escape sequence')
  const structured = await result(call('structured'))
  t.strictSame(structured.structuredContent, { rows })
  t.ok(structured.content[0].text === JSON.stringify({ rows }))
  const { content } = await result(call('explicit'))
  t.strictSame(content.map((block: { text?: string, data?: string }) => block.text?.length ?? block.data), [
    text.length, 'AAAA', 5, text.length
  ])
  const pictured = await result(call('pictured'))
  t.match(pictured.content, [{ data: 'AAAA' }, { type: 'text' }])
  t.ok(pictured.content[1].text === JSON.stringify({ rows }))
  t.match(await result(call('length', { text })), { content: [{ text: String(text.length) }] })
})

t.test('a large body that is no JSON is refused as any other', async (t) => {
  const app = await buildApp(t, FILES, { maxBodyBytes: 20_000_000 })
  const { headers } = toPost(call('length'))
  const bodies = [`{"a":"${text.replaceAll(/["\n\t]/g, '')}"`, `{"__proto__":{},"a":"${'x'.repeat(300_000)}"}`]
  for (const body of bodies) {
    const answer = await app.inject({ method: 'POST', url: '/mcp', headers, body })
    t.equal(answer.statusCode, 400)
    t.match(answer.json(), { error: { code: -32700 } })
  }
})

t.test('other requests are answered while a large answer is sent', async (t) => {
  const url = await listen(await buildApp(t, FILES))
  const large = post(t, url, call('structured'))
  const over = large.then(() => true)
  const list = async () => { await post(t, url, { id: 2, method: 'tools/list' }) }
  let answers = 0
  while (!await Promise.race([over, list().then(() => false)])) answers++
  t.ok((await large).response.result.structuredContent.rows.length === rows.length)
  t.ok(answers > 1, `${answers} answers`)
})

t.test('a client that leaves before or in the middle of a large answer is no error', async (t) => {
  const { logger, lines } = createReadableLog()
  const app = await buildApp(t, FILES, { logger })
  const url = await listen(app)
  const { headers, body } = toPost(call('structured'))
  for (const leavesEarly of [true, false]) {
    const request = httpRequest(url, { method: 'POST', headers: { ...headers } })
    request.on('error', () => {})
    request.end(body)
    if (leavesEarly) {
      const seen = () => lines.some(({ method }) => method === 'tools/call')
      await Promise.race([until(seen, 'the end of the call'), once(request, 'response')])
    } else {
      const [response] = await once(request, 'response') as [IncomingMessage]
      await once(response, 'data')
    }
    request.destroy()
    for (let turns = 0; turns < 200; turns++) await turn()
  }
  t.strictSame(lines.filter(({ level }) => level >= 40), [])
  t.match((await post(t, url, call('plain'))).response, { result: { content: [{}] } })
})
