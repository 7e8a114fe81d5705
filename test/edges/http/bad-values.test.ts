// Every method of both eras with bad values in every place of its params: the answer is an error that says
// what is wrong, or a result, and never an internal error.

import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { readMessages, toPost, type Message } from '../../helpers/request.ts'

const FILES = {
  'tools/echo.ts': toolModule(
    'echo', "inputSchema: { type: 'object', properties: { x: {} } }", '({ x }) => JSON.stringify(x ?? null)'
  ),
  'tools/asks.ts': `import { defineTool, elicit } from 'trivet'
export default defineTool({
  name: 'asks',
  description: 'Asks.',
  run: async (_, ctx) => JSON.stringify(await ctx.ask({
    a: elicit.form({ message: 'Sure?', schema: { type: 'object', properties: { x: { type: 'string' } } } })
  }))
})`,
  'prompts/p.md': '---\ndescription: P.\narguments:\n  - name: x\n---\nHello {{x}}.\n',
  'resources/a b.txt': 'text',
  'resources/book.resource.ts': "import { defineResourceTemplate } from 'trivet'\nexport default " +
    "defineResourceTemplate({ uriTemplate: 'book://{id}{?q}', name: 'book', read: ({ id }) => id })\n"
}

type Params = { readonly [name: string]: unknown }

/** The methods of both eras with params that are valid. */
const VALID: ReadonlyArray<readonly [method: string, params: Params]> = [
  ['tools/list', { cursor: 'x' }],
  ['prompts/list', { cursor: 'x' }],
  ['resources/list', { cursor: 'x' }],
  ['resources/templates/list', { cursor: 'x' }],
  ['tools/call', { name: 'echo', arguments: { x: 1 } }],
  ['tools/call', { name: 'asks', arguments: {}, inputResponses: { a: {} }, requestState: 'x' }],
  ['prompts/get', { name: 'p', arguments: { x: 'y' } }],
  ['resources/read', { uri: 'book://x' }],
  ['completion/complete', {
    ref: { type: 'ref/prompt', name: 'p' },
    argument: { name: 'x', value: 'y' },
    context: { arguments: { x: 'y' } }
  }],
  ['completion/complete', {
    ref: { type: 'ref/resource', uri: 'book://{id}{?q}' }, argument: { name: 'id', value: 'y' }
  }]
]
const MODERN: typeof VALID = [...VALID, ['server/discover', {}]]
const LEGACY: typeof VALID = [
  ...VALID,
  ['ping', {}],
  ['logging/setLevel', { level: 'info' }],
  ['resources/subscribe', { uri: 'book://x' }],
  ['resources/unsubscribe', { uri: 'book://x' }],
  ['initialize', {
    protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo: { name: 'test', version: '1' }
  }]
]

const BAD_VALUES: readonly unknown[] = [
  null, true, 0, -1, 1e308, 2 ** 53, '', ' ', '\u0000', '\ud800', '日本', 'a b', '../..', '%', '%zz', '%00',
  '{id}', 'note://日本', 'book://a b', 'book://%', 'book://', 'book://x?q=%zz', 'file:///a b.txt',
  'file:///%2e%2e/x', 'file://host/a', 'x'.repeat(20_000), [], [null], [[]], {}, { a: null },
  { type: 'ref/none' }, { valueOf: {} }, { toString: 1 }, { toJSON: {} }, { then: {} }, { length: -1 },
  { constructor: { name: 1 } }, { hasOwnProperty: 1 }, JSON.parse('['.repeat(500) + ']'.repeat(500))
]

/** The params with each value at each place, and without each place. */
function * spoil (params: Params): Generator<Params> {
  for (const [name, value] of Object.entries(params)) {
    for (const bad of BAD_VALUES) yield { ...params, [name]: bad }
    const { [name]: _, ...others } = params
    yield others
    if (typeof value === 'object' && value !== null) {
      for (const inner of spoil({ ...value })) yield { ...params, [name]: inner }
    }
  }
  for (const bad of BAD_VALUES) yield { ...params, unknown: bad }
}

async function post (app: FastifyInstance, headers: object, body: string): Promise<Message[]> {
  const answer = await app.inject({ method: 'POST', url: '/mcp', headers: { ...headers }, body })
  return readMessages(answer.body, String(answer.headers['content-type'] ?? ''))
}

const isInternal = (message: Message) => message.error?.code === -32603

t.test('no bad value is an internal error, nor one of the envelope', async (t) => {
  const app = await buildApp(t, FILES)
  for (const [method, params] of MODERN) {
    const internal: unknown[] = []
    let count = 0
    for (const spoilt of spoil(params)) {
      const { headers, body } = toPost({ method, params: spoilt })
      const name = spoilt.name ?? spoilt.uri
      const mirrored = typeof name === 'string' ? `=?base64?${Buffer.from(name).toString('base64')}?=` : 'x'
      const messages = await post(app, { ...headers, 'mcp-name': mirrored }, body)
      if (messages.length === 0 || messages.some(isInternal)) internal.push(spoilt)
      count++
    }
    for (const bad of BAD_VALUES) {
      for (const key of ['protocolVersion', 'clientInfo', 'clientCapabilities', 'logLevel']) {
        const meta = { [`io.modelcontextprotocol/${key}`]: bad }
        const { headers, body } = toPost({ method, params, meta: { ...meta, progressToken: bad } })
        if ((await post(app, headers, body)).some(isInternal)) internal.push(meta)
      }
    }
    t.strictSame(internal, [], `${method}, ${count} kinds of params`)
  }
})

t.test('no bad value of a session is an internal error', async (t) => {
  const app = await buildApp(t, FILES)
  const base = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const [, initialize = {}] = LEGACY.at(-1) ?? []
  const open = await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: base,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize })
  })
  const session = {
    ...base,
    'mcp-session-id': String(open.headers['mcp-session-id']),
    'mcp-protocol-version': '2025-11-25'
  }
  for (const [method, params] of LEGACY) {
    // The tool asks on the stream of its call, and the answer would come in another request.
    if (params.name === 'asks') continue
    const internal: unknown[] = []
    for (const spoilt of spoil(params)) {
      const headers = method === 'initialize' ? base : session
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: spoilt })
      const messages = spoilt.name === 'asks' ? [] : await post(app, headers, body)
      if (messages.some(isInternal)) internal.push(spoilt)
    }
    t.strictSame(internal, [], method)
  }
})
