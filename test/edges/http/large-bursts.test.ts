// Calls that are sent at once, whose results together do not fit into the heap. The process lives.

import { Agent, request as openRequest } from 'node:http'
import t, { type Test } from 'tap'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { toPost, type RequestParts } from '../../helpers/request.ts'
import { startService } from '../../helpers/service.ts'

const HEAP_MB = 200
const COUNT = 60
/** The results take at least this, in bytes. */
const LARGE = 2_000_000
const MAKE = `
export const text = () => Array.from({ length: 3000 }, (_, id) => 'row ' + id + ' ' + 'x'.repeat(990)).join('\\n')
export const rows = () => Array.from({ length: 30_000 }, (_, id) => ({ id, name: 'row ' + id + ' of a table' }))
export const pause = async () => await new Promise((resolve) => { setTimeout(resolve, 5) })
`
const FILES = {
  'lib/make.ts': MAKE,
  'tools/large.ts': `import { pause, rows, text } from '../lib/make.ts'
import { defineTool } from 'trivet'
export const now = defineTool({ name: 'now', description: 'x', run: () => text() })
export const later = defineTool({ name: 'later', description: 'x', async run () { await pause(); return text() } })
export const holding = defineTool({
  name: 'holding', description: 'x', async run () { const all = text(); await pause(); return all }
})
export const structured = defineTool({
  name: 'structured', description: 'x', async run () { await pause(); return { rows: rows() } }
})`,
  'tools/small.ts': toolModule('small'),
  'resources/large.resource.ts': `import { pause, text } from '../lib/make.ts'
import { defineResource } from 'trivet'
export default defineResource({
  uri: 'large:///text', name: 'large', description: 'x', async read () { await pause(); return text() }
})`,
  'prompts/large.ts': `import { pause, text } from '../lib/make.ts'
import { definePrompt } from 'trivet'
export default definePrompt({ name: 'large', description: 'x', async render () { await pause(); return text() } })`
}

const toolCall = (name: string) => ({ method: 'tools/call', params: { name } })
const agent = new Agent({ keepAlive: true })
t.teardown(() => agent.destroy())

/** Reads the answer as it comes, and keeps only its begin. */
async function send (url: string, { headers, body }: ReturnType<typeof toPost>) {
  return await new Promise<{ status: number | undefined, bytes: number, text: string, session: unknown }>(
    (resolve, reject) => {
      const request = openRequest(url, { method: 'POST', agent, headers }, (answer) => {
        let [bytes, text] = [0, '']
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (text.length < 5000) text += chunk
        })
        answer.on('end', () => resolve({
          status: answer.statusCode, bytes, text, session: answer.headers['mcp-session-id']
        }))
        answer.on('error', reject)
      })
      request.on('error', reject).end(body)
    }
  )
}

/** Each gets its result, or is told why it has none. Small calls are served meanwhile. */
async function burst (t: Test, url: string, toMessage: (index: number) => ReturnType<typeof toPost>) {
  // From one call the service knows how large the results are. Before it nothing is known of what a handler
  // makes.
  t.ok((await send(url, toMessage(0))).bytes > LARGE)
  const answers = Array.from({ length: COUNT }, async (_, index) => await send(url, toMessage(index)))
  const headers = { 'x-forwarded-for': '203.0.113.9' }
  t.match(await send(url, toPost({ ...toolCall('small'), headers })), { status: 200, text: /"ok"/ })
  let large = 0
  for (const { bytes, text, status } of await Promise.all(answers)) {
    if (bytes > LARGE) large++
    else t.match(text, /Too many bytes of large answers|its answer was dropped/, String(status))
  }
  t.ok(large > 0, `${large} of ${COUNT} have their results`)
  const { bytes } = await send(url, toMessage(0))
  t.ok(bytes > LARGE, 'there is room afterwards')
}

const CASES: { readonly [name: string]: RequestParts } = {
  'texts that are made at once': toolCall('now'),
  'texts that are made later': toolCall('later'),
  'texts that handlers hold': toolCall('holding'),
  'structured content': toolCall('structured'),
  resources: { method: 'resources/read', params: { uri: 'large:///text' } },
  prompts: { method: 'prompts/get', params: { name: 'large' } }
}

t.test('bursts of results that do not fit into the heap', { timeout: 240_000 }, async (t) => {
  const { url, child, stderr } = await startService(t, {
    TRIVET_CATALOG: await writeCatalog(t, FILES),
    TRIVET_TRUSTED_PROXIES: '127.0.0.1',
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`
  })
  for (const [name, parts] of Object.entries(CASES)) {
    await t.test(`${name}, of many callers`, async (t) => await burst(t, url, (index) => toPost({
      ...parts, headers: { 'x-forwarded-for': `203.0.113.${index}` }
    })))
  }
  await t.test('of one caller', async (t) => {
    await burst(t, url, () => toPost({ ...toolCall('now'), headers: { 'x-forwarded-for': '203.0.113.1' } }))
  })
  for (const version of ['2025-11-25', '2025-03-26']) {
    const toMessage = (body: unknown, session?: unknown) => ({
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(typeof session === 'string' && { 'mcp-session-id': session, 'mcp-protocol-version': version })
      },
      body: JSON.stringify(body)
    })
    await t.test(`in a session of ${version}`, async (t) => {
      const { session } = await send(url, toMessage({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } }
      }))
      const message = (id: number) => ({ jsonrpc: '2.0', id, ...toolCall('later') })
      const isBatch = version === '2025-03-26'
      await burst(t, url, (id) => toMessage(isBatch ? [message(1), message(2)] : message(id), session))
    })
  }
  t.strictSame([child.exitCode, child.signalCode], [null, null], stderr())
})
