// What the texts may cost that a caller chooses beside the body: headers, URLs, URIs, and texts to complete.
// Each is as long as it may be.

import t from 'tap'
import { buildApp, listen } from '../../helpers/app.ts'
import { toolModule, type Files } from '../../helpers/catalog-folder.ts'
import { checkCosts, countStoreUse, LARGE, posted, type CostlyRequest } from '../../helpers/request-cost.ts'
import { toPost, type RequestParts } from '../../helpers/request.ts'
import { openStream } from '../../helpers/stream.ts'
import { openProtectedApp } from './protected-app.ts'

/** Of one header: Node takes 16 KiB of all. */
const HEADER = 15_000
/** Of a URI. */
const URI = 8192

const fill = (length: number, start: string, part: string) => (
  (start + part.repeat(Math.ceil(length / part.length))).slice(0, length)
)
const names = (count: number) => Array.from({ length: count }, (_, i) => `,"n${i}":1`).join('')
const header = (start: string, part: string) => fill(HEADER, start, part)

const HEADERS: { readonly [kind: string]: { readonly [name: string]: string } } = {
  'a type with a long parameter': { 'content-type': header('application/json;', 'a') },
  'a type with many parameters': { 'content-type': header('application/json', ';a=b') },
  'a type with many spaces': { 'content-type': header('application/json;', ' ') },
  'a type with many charsets': { 'content-type': header('application/json', '; charset ') },
  'a type with escapes': { 'content-type': header('application/json; a="', '\\"') },
  'a type that never ends': { 'content-type': header('application/json', ';;') },
  'many kinds of answer': { accept: header('', 'a/b,') },
  'a kind of answer with many parameters': { accept: header('a/b', ';q=0.0') },
  'a weight of many digits': { accept: header('a/b;q=0.', '0') },
  'a long origin': { origin: header('http://', 'a.') },
  'an origin with many ports': { origin: header('http://a', ':1') },
  'a long host': { host: header('', 'a.') },
  'a host with many ports': { host: header('a', ':1') },
  'a long encoding': { 'content-encoding': header('', 'gzip,') },
  'an encoded name': { 'mcp-name': `=?base64?${header('', 'YWFh')}?=` },
  'an encoding that never ends': { 'mcp-name': header('=?base64?', '?=') },
  'a malformed encoding': { 'mcp-name': `=?base64?${header('', 'a=')}?=` },
  'a number of many digits': { 'mcp-param-count': header('', '9') },
  'an encoded number': { 'mcp-param-count': `=?base64?${header('', 'OTk5')}?=` },
  'a long revision': { 'mcp-protocol-version': header('', '2026-') },
  'a long method': { 'mcp-method': header('', 'tools/') },
  'a long token': { authorization: header('Bearer ', 'a.') },
  'a token of many spaces': { authorization: header('Bearer', ' ') },
  'many schemes': { authorization: header('', 'bearer ') },
  'a long key': { 'idempotency-key': header('', 'a,') },
  'a long session': { 'mcp-session-id': header('', 'a.') },
  'a long event': { 'last-event-id': header('c.', 'a') },
  'a long trace': { traceparent: header('00-', '0'), tracestate: header('', 'a=b,').slice(0, 100) },
  'a trace of many states': { tracestate: header('', 'a=b,') },
  'much baggage': { baggage: header('', 'a=b,') },
  'many proxies': { 'x-forwarded-for': header('', '::1,') },
  'many addresses': { 'x-forwarded-for': header('', '10.0.0.1,') },
  'one long address': { 'x-forwarded-for': header('', '1') },
  'an address of many brackets': { 'x-forwarded-for': header('[', ']:1') },
  'many forwarders': { forwarded: header('', 'for=a;') },
  'many cookies': { cookie: header('', 'a=b;') },
  'many headers': Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`mcp-param-${i}`, '1']))
}

const CALL: RequestParts = { method: 'tools/call', params: { name: 'counts', arguments: { count: 1 } } }

/** A hundred templates that begin alike. */
const KINDS = Array.from({ length: 100 }, (_, i) => `kind${i}`)

const URIS: { readonly [kind: string]: string } = {
  'one segment': fill(URI, 'crm://', 'a'),
  'many segments': fill(URI, 'crm://', 'a/'),
  'all kinds': fill(URI, `crm://a/${KINDS.join('/')}/`, 'a'),
  'encoded letters': fill(URI, 'crm://', '%61').slice(0, -2),
  'encoded bytes': fill(URI, 'crm://', '%C3%A9').slice(0, -4),
  'letters to encode': fill(URI / 6, 'crm://', 'é'),
  brackets: fill(URI, 'crm://', '['),
  'many pairs': fill(URI, 'list://a?', 'q=1&'),
  'many names': fill(URI, 'list://a?', 'q&'),
  'many marks': fill(URI, 'list://a', '?q=1'),
  'many parameters': fill(URI, 'list://a', ';p=1'),
  'many dots': fill(URI, 'list://a', '.p'),
  'no URI': fill(URI, '', 'a:'),
  'a path of dots': fill(URI, 'file:///', '../'),
  'an address': fill(URI, 'crm://[', '::')
}

const FILES = {
  'tools/counts.ts': toolModule('counts', `inputSchema: {
    type: 'object', properties: { count: { type: 'integer', 'x-mcp-header': 'Count' } }
  }`),
  'resources/crm.resource.ts': `import { defineResourceTemplate } from 'trivet'
const kinds = ${JSON.stringify(KINDS)}
export const kind = kinds.map((kind) => defineResourceTemplate({
  uriTemplate: 'crm://{tenant}/' + kind + '/{id}', name: kind, read: () => 'a'
}))
export const list = defineResourceTemplate({
  uriTemplate: 'list://{a}{.d*}{;p*}{?q*,r*}', name: 'list', read: () => 'a'
})`,
  'resources/a.txt': 'a',
  'prompts/city.prompt.ts': `import { definePrompt } from 'trivet'
const cities = Array.from({ length: 100_000 }, (_, i) => 'a city of many letters and digits ' + i)
export default definePrompt({
  name: 'city', arguments: [{ name: 'city', complete: cities }], render: () => 'a'
})`
}

const read = (uri: string): RequestParts => (
  { method: 'resources/read', params: { uri }, headers: { 'mcp-name': 'file:///a.txt' } }
)

const complete = (value: string): RequestParts => ({
  method: 'completion/complete',
  params: { ref: { type: 'ref/prompt', name: 'city' }, argument: { name: 'city', value } }
})

const TYPED: { readonly [kind: string]: string } = {
  'many words': 'a '.repeat(100),
  'many letters': 'a'.repeat(200),
  'a few letters': 'acm',
  'letters of all': 'a city of many letters and digits',
  'the end of all': 'digits 9',
  'letters of no alphabet': 'é'.repeat(200),
  'a long text': 'a '.repeat(2000)
}

t.test('no header costs more CPU time than its limit', async (t) => {
  const use = countStoreUse(t)
  const app = await buildApp(t, FILES, { trustedProxies: ['127.0.0.0/8', '::1', '10.0.0.0/8'] })
  await checkCosts(t, use, Object.entries(HEADERS).map(([kind, headers]) => (
    posted(app, kind, toPost({ ...CALL, headers: { 'mcp-param-count': '1', ...headers } }))
  )))
})

t.test('no URL costs more CPU time than its limit', async (t) => {
  const use = countStoreUse(t)
  const app = await buildApp(t, FILES)
  const paths = {
    'many pairs': fill(HEADER, '/mcp?', 'a=b&'),
    'many segments': fill(HEADER, '/', 'mcp/'),
    'encoded letters': fill(HEADER, '/', '%61'),
    'malformed encodings': fill(HEADER, '/', '%'),
    'many marks': fill(HEADER, '/mcp', '?%'),
    'a long link': fill(HEADER, '/files/', 'a.'),
    'many links': fill(HEADER, '', '/files/')
  }
  await checkCosts(t, use, Object.entries(paths).map(([kind, url]): CostlyRequest => ({
    kind,
    async send () {
      const { statusCode, rawPayload } = await app.inject({ method: 'GET', url })
      return { status: statusCode, bytes: rawPayload.length }
    }
  })))
})

t.test('no URI costs more CPU time than its limit', async (t) => {
  const use = countStoreUse(t)
  const app = await buildApp(t, FILES)
  const url = await listen(app)
  /** All URIs of a stream may have 65,536 characters. */
  const listenTo = (kind: string, uri: string): CostlyRequest => ({
    kind: `listen to ${kind}`,
    async send () {
      const notifications = { resourceSubscriptions: Array.from({ length: 8 }, () => uri) }
      const stream = await openStream(t, url, { method: 'subscriptions/listen', params: { notifications } })
      const opening = await stream.next()
      stream.close()
      return { status: stream.status, bytes: JSON.stringify(opening).length }
    }
  })
  await checkCosts(t, use, Object.entries(URIS).flatMap(([kind, uri]) => [
    posted(app, `read ${kind}`, toPost(read(uri))),
    listenTo(kind, uri),
    posted(app, `complete in ${kind}`, toPost({
      method: 'completion/complete',
      params: { ref: { type: 'ref/resource', uri }, argument: { name: 'id', value: 'a' } }
    }))
  ]))
})

t.test('no access token costs more CPU time than its limit', async (t) => {
  const use = countStoreUse(t)
  const { app, authorize } = await openProtectedApp(t)
  const { authorization } = await authorize()
  const [head = '', claims = '', signature = ''] = authorization.split('.')
  const encode = (text: string) => Buffer.from(text).toString('base64url')
  const long = 3 * HEADER / 4 - 100
  const tokens = {
    'many dots': header('Bearer ', 'a.'),
    'a long head': `Bearer ${encode(fill(long, '{"alg":"RS256","a":"', 'a'))}.${claims}.${signature}`,
    'a nested head': `Bearer ${encode(fill(long, '', '['))}.${claims}.${signature}`,
    'a head of many names': `Bearer ${encode(`{"alg":"RS256"${names(900)}}`)}.${claims}.${signature}`,
    'many critical names': `Bearer ${encode(`{"alg":"RS256","crit":[${'"b",'.repeat(2000)}"b"]}`)}.e30.a`,
    'a long key': `Bearer ${encode(`{"alg":"RS256","kid":"${'a'.repeat(long - 100)}"}`)}.${claims}.${signature}`,
    'nested claims': `${head}.${encode(fill(long, '', '{"a":'))}.${signature}`,
    'claims of many names': `${head}.${encode(`{"iss":"a"${names(900)}}`)}.${signature}`,
    'a long signature': `${head}.${claims}.${fill(HEADER - 1000, '', 'a')}`,
    'no signature': `${head}.${claims}.`
  }
  await checkCosts(t, use, Object.entries(tokens).map(([kind, token]) => (
    posted(app, kind, toPost({ ...CALL, headers: { authorization: token } }))
  )))
})

/** Fields of a form, as many and as costly as hosts show. */
const FIELDS = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`field${i}`, [
  { type: 'string', format: 'email' }, { type: 'string', format: 'uri' }, { type: 'string', maxLength: 100 },
  { type: 'string', format: 'date-time' }, { type: 'string', enum: KINDS }
][i % 5]]))

const fillFields = (part: string) => (
  Object.fromEntries(Object.keys(FIELDS).map((name) => [name, fill(8000, '', part)]))
)

const ASKS: Files = {
  'tools/asks.ts': `import { defineTool, elicit } from 'trivet'
const schema = ${JSON.stringify({ type: 'object', properties: FIELDS })}
export default defineTool({
  name: 'asks', description: 'Asks.', inputSchema: { type: 'object' },
  run: async (_, ctx) => {
    const { a } = await ctx.ask({ a: elicit.form({ message: 'Sure?', schema }) })
    return a.action
  }
})`,
  // Many names that are alike.
  'tools/many.ts': `import { defineTool } from 'trivet'
const numbers = Array.from({ length: 5000 }, (_, i) => i)
export const many = numbers.map((i) => defineTool({
  name: 'list_all_customers_of_region_' + i, description: 'Lists.', inputSchema: { type: 'object' },
  run: () => 'a'
}))`
}

t.test('no answer to a question, and no name of a tool, costs more CPU time than its limit', async (t) => {
  const use = countStoreUse(t)
  const app = await buildApp(t, ASKS)
  const answer = (part: string, more: object = {}): RequestParts => ({
    method: 'tools/call',
    params: {
      name: 'asks',
      arguments: {},
      inputResponses: { a: { action: 'accept', content: fillFields(part) } },
      ...more
    },
    meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
  })
  const callOf = (name: string) => posted(app, `a tool of ${name.slice(0, 20)}`, toPost({
    method: 'tools/call', params: { name }, headers: { 'mcp-name': name.length < 1000 ? name : 'x' }
  }))
  await checkCosts(t, use, [
    ...['a.', 'a@', 'http://a', '2026-07-28T', ' '].map((part) => (
      posted(app, `answers of ${JSON.stringify(part)}`, toPost(answer(part)))
    )),
    ...['a', 'a.', 'YWFh', '_-'].map((part) => (
      posted(app, `a state of ${part}`, toPost(answer('a', {
        inputResponses: {}, requestState: fill(LARGE, '', part)
      })))
    )),
    callOf('list_all_customers_of_region'),
    callOf(fill(LARGE, 'list_all_customers_of_region_', '0123456789'))
  ])
})

t.test('no text to complete, and no name, costs more CPU time than its limit', async (t) => {
  const use = countStoreUse(t)
  const app = await buildApp(t, FILES)
  await checkCosts(t, use, [
    ...Object.entries(TYPED).map(([kind, value]) => posted(app, kind, toPost(complete(value)))),
    posted(app, 'a long reference', toPost({
      method: 'completion/complete',
      params: { ref: { type: 'ref/resource', uri: 'x'.repeat(LARGE) }, argument: { name: 'a', value: '' } }
    })),
    posted(app, 'a long argument', toPost({
      method: 'completion/complete',
      params: { ref: { type: 'ref/prompt', name: 'city' }, argument: { name: 'x'.repeat(LARGE), value: '' } }
    })),
    ...['x', 'a.b ', '_', '=', '[', 'YWFh', '1 '].map((part) => posted(app, `a cursor of ${part}`, toPost({
      method: 'tools/list', params: { cursor: fill(LARGE, '', part) }
    }))),
    ...['co', 'un-ts', 'counts '].map((part) => posted(app, `a tool of ${part}`, toPost({
      method: 'tools/call', params: { name: fill(LARGE, '', part) }, headers: { 'mcp-name': 'x' }
    })))
  ])
})
