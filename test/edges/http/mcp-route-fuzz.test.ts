// The endpoint with generated requests.

import fc from 'fast-check'
import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { META, readMessages, toPost } from '../../helpers/request.ts'
import { MIRRORED } from './mirrored-schema.ts'

const files = {
  'tools/echo.ts': toolModule(
    'echo', "inputSchema: { type: 'object', properties: { x: {} } }", '({ x }) => JSON.stringify(x ?? null)'
  ),
  'tools/route.ts': toolModule('route', MIRRORED),
  'prompts/gruß.md': '---\ndescription: Says hello.\n---\nHello\n',
  'resources/notes.txt': 'large'
}

const list = { method: 'tools/list' }
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`

/** A generated object may have a `toString` that is no function. */
const toText = (value: unknown) => typeof value === 'object' ? JSON.stringify(value) : String(value)

t.test('answers any request with JSON or 202, and never with an internal error', async (t) => {
  const app = await buildApp(t, files)
  const value = fc.string({
    unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code))
  })
  const headers = fc.record({
    'mcp-method': fc.oneof(fc.constantFrom('tools/list', 'tools/call', 'initialize'), value),
    'mcp-name': fc.oneof(fc.constantFrom('echo', 'route'), value, fc.string().map(base64)),
    'mcp-protocol-version': fc.oneof({ weight: 5, arbitrary: fc.constant('2026-07-28') }, {
      weight: 1, arbitrary: value
    }),
    'mcp-param-region': fc.oneof(value, fc.string().map(base64)),
    'mcp-session-id': value,
    accept: fc.oneof(fc.constant('application/json, text/event-stream'), value)
  }, { requiredKeys: [] })
  const args = fc.oneof(
    fc.jsonValue(), fc.record({ region: fc.jsonValue(), x: fc.jsonValue() }, { requiredKeys: [] })
  )
  // fast-check's own URLs take two seconds to prepare.
  const url = fc.string({ unit: 'grapheme' }).map((path) => `https://a.example/${encodeURI(path)}`)
  const params = fc.record({
    name: fc.oneof(fc.constantFrom('echo', 'route'), fc.jsonValue()),
    uri: fc.jsonValue(),
    cursor: fc.jsonValue(),
    arguments: args,
    ref: fc.oneof(
      fc.record({
        type: fc.constantFrom('ref/prompt', 'ref/resource'), name: fc.string(), uri: url
      }),
      fc.jsonValue()
    ),
    argument: fc.oneof(fc.record({ name: fc.string(), value: fc.string() }), fc.jsonValue()),
    _meta: fc.oneof({ weight: 9, arbitrary: fc.constant(META) }, { weight: 1, arbitrary: fc.jsonValue() })
  }, { requiredKeys: ['_meta'] })
  const method = fc.oneof(
    fc.constantFrom(
      'tools/list', 'tools/call', 'prompts/get', 'resources/read', 'resources/list', 'completion/complete',
      'server/discover'
    ),
    fc.string()
  )
  const request = fc.record({
    jsonrpc: fc.constant('2.0'),
    id: fc.oneof(fc.nat(), fc.jsonValue()),
    method,
    params: fc.oneof({ weight: 9, arbitrary: params }, { weight: 1, arbitrary: fc.jsonValue() })
  })
  // Most generated bodies agree with their headers, because only those pass the first checks.
  const agreeing = fc.tuple(request, headers).map(([body, changed]) => {
    const { name, uri } = Object(body.params)
    const mirrored = body.method === 'resources/read' ? uri : name
    return {
      body,
      headers: {
        ...toPost(list).headers,
        'mcp-method': body.method,
        'mcp-name': typeof mirrored === 'string' ? base64(mirrored) : 'x',
        ...changed
      }
    }
  })
  const any = fc.record({
    body: fc.jsonValue(), headers: headers.map((changed) => ({ ...toPost(list).headers, ...changed }))
  })
  const plain = fc.tuple(request, fc.constant({})).map(
    ([body]) => ({
      body,
      headers: {
        ...toPost(list).headers,
        'mcp-method': encodeURI(body.method),
        'mcp-name': base64(toText(Object(body.params).name))
      }
    })
  )

  await fc.assert(fc.asyncProperty(fc.oneof(agreeing, plain, any), async ({ body, headers }) => {
    const answer = await app.inject({ method: 'POST', url: '/mcp', headers, body: JSON.stringify(body) })
    const messages = readMessages(answer.body, String(answer.headers['content-type']))
    return answer.statusCode < 500 &&
      (
        messages.length === 0
          ? answer.statusCode === 202
          : messages.every(({ jsonrpc, error }) => jsonrpc === '2.0' && error?.code !== -32603)
      )
  }), { numRuns: 500 })
})
