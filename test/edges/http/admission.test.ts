// The checks before a handler runs: each refusal, and the order of the checks.

import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { type RequestParts, send, toPost } from '../../helpers/request.ts'

const files = {
  'tools/echo.ts': toolModule(
    'echo', "inputSchema: { type: 'object', properties: { x: {} } }", '({ x }) => JSON.stringify(x ?? null)'
  ),
  'tools/needs_sampling.ts': toolModule(
    'needs_sampling',
    'requiredCapabilities: { sampling: { tools: {} } }, inputSchema: { type: \'object\', properties: { ' +
      'region: { type: \'string\', \'x-mcp-header\': \'Region\' } } }'
  ),
  'tools/needs_form.ts': toolModule('needs_form', 'requiredCapabilities: { elicitation: { form: {} } }'),
  'prompts/gruß.md': '---\ndescription: Says hello.\n---\nHello\n',
  'resources/notes.txt': 'large'
}

t.test('admission', async (t) => {
  const app = await buildApp(t, files, { maxBodyBytes: 2048 })

  type Refusal = readonly [claim: string, parts: RequestParts, status: number, code: number, message?: RegExp]

  const list = { method: 'tools/list' }
  const echo = { method: 'tools/call', params: { name: 'echo' } }
  const withMeta = (meta: RequestParts['meta']) => ({ ...list, ...(meta === undefined ? {} : { meta }) })
  const withHeaders = (headers: RequestParts['headers'], parts: RequestParts = list) => ({
    ...parts, ...(headers === undefined ? {} : { headers })
  })

  const refusals: readonly Refusal[] = [
    ['a content type other than JSON', withHeaders({ 'content-type': 'text/plain' }), 415, -32600],
    ['a form', withHeaders({ 'content-type': 'application/x-www-form-urlencoded' }), 415, -32600],
    [
      'a subscription for an Accept without event streams (14)',
      withHeaders({ accept: 'application/json' }, { method: 'subscriptions/listen' }), 406, -32600,
      /Accept must list/
    ],
    ['an Accept without JSON (14)', withHeaders({ accept: 'text/event-stream' }), 406, -32600],
    [
      'an Accept that rules JSON out (14)',
      withHeaders({ accept: 'application/json;q=0, text/event-stream' }), 406, -32600
    ],
    [
      'an envelope without a protocol version (78)',
      withMeta({ 'io.modelcontextprotocol/protocolVersion': undefined }), 400, -32602, /protocolVersion/
    ],
    [
      'an envelope without client capabilities (78)',
      withMeta({ 'io.modelcontextprotocol/clientCapabilities': undefined }), 400, -32602, /clientCapabilities/
    ],
    [
      'a missing MCP-Protocol-Version (25)', withHeaders({ 'mcp-protocol-version': undefined }), 400, -32020,
      /MCP-Protocol-Version is missing/
    ],
    [
      'an MCP-Protocol-Version that differs from the body (26)',
      withHeaders({ 'mcp-protocol-version': '2025-11-25' }), 400, -32020
    ],
    [
      'a body version that differs from the header, although it is unknown too (26)',
      withMeta({ 'io.modelcontextprotocol/protocolVersion': '1999-01-01' }), 400, -32020
    ],
    [
      'an unsupported version (81)',
      {
        ...list,
        meta: { 'io.modelcontextprotocol/protocolVersion': '1999-01-01' },
        headers: { 'mcp-protocol-version': '1999-01-01' }
      },
      400, -32022
    ],
    [
      'a version of an earlier era (81)',
      {
        ...list,
        meta: { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' },
        headers: { 'mcp-protocol-version': '2025-11-25' }
      },
      400, -32022
    ],
    [
      'a missing Mcp-Method (27)', withHeaders({ 'mcp-method': undefined }), 400, -32020,
      /Mcp-Method is missing/
    ],
    [
      'an Mcp-Method that differs from the body (28)', withHeaders({ 'mcp-method': 'prompts/list' }), 400,
      -32020
    ],
    ['an Mcp-Method in another case (28)', withHeaders({ 'mcp-method': 'TOOLS/LIST' }), 400, -32020],
    [
      'an Mcp-Method that is sent twice (28)', withHeaders({ 'mcp-method': 'tools/list, tools/list' }), 400,
      -32020
    ],
    [
      'a missing Mcp-Name on tools/call (29)', withHeaders({ 'mcp-name': undefined }, echo), 400, -32020,
      /Mcp-Name is missing/
    ],
    [
      'a missing Mcp-Name on prompts/get (29)',
      withHeaders({ 'mcp-name': undefined }, { method: 'prompts/get', params: { name: 'x' } }), 400, -32020
    ],
    [
      'a missing Mcp-Name on resources/read (29)',
      withHeaders({ 'mcp-name': undefined }, { method: 'resources/read', params: { uri: 'x:y' } }), 400,
      -32020
    ],
    ['an Mcp-Name that differs from the body (29)', withHeaders({ 'mcp-name': 'other' }, echo), 400, -32020],
    ['an Mcp-Name in another case (29)', withHeaders({ 'mcp-name': 'ECHO' }, echo), 400, -32020],
    [
      'an Mcp-Name of malformed base64 (34)', withHeaders({ 'mcp-name': '=?base64?ZWNobw?=' }, echo), 400,
      -32020, /malformed base64/
    ],
    [
      'an Mcp-Name of invalid characters (36)',
      withHeaders({ 'mcp-name': 'gru\xdf' }, { method: 'prompts/get', params: { name: 'gruß' } }), 400,
      -32020
    ],
    [
      'an Mcp-Name with its marker in upper case (35)',
      withHeaders({ 'mcp-name': '=?BASE64?ZWNobw==?=' }, echo), 400, -32020
    ],
    ['an unknown method (50)', { method: 'tools/destroy' }, 404, -32601, /tools\/destroy/],
    ['a method in another case (50)', { method: 'Tools/list' }, 404, -32601],
    ['a method named like a member of every object (50)', { method: 'constructor' }, 404, -32601],
    ...[
      'initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'
    ].map((method): Refusal => [`${method}, which was removed (98)`, { method }, 404, -32601]),
    [
      'a call that lacks a capability (90)', { method: 'tools/call', params: { name: 'needs_sampling' } },
      400, -32021, /sampling/
    ],
    [
      'params that do not fit the method (123)',
      { method: 'tools/call', params: { name: 'echo', arguments: [] } }, 200, -32602, /arguments/
    ],
    [
      'an unknown log level (252)', withMeta({ 'io.modelcontextprotocol/logLevel': 'loud' }), 200,
      -32602
    ]
  ]

  for (const [claim, parts, status, code, message = /./] of refusals) {
    t.test(`refuses ${claim}`, async (t) => {
      const answer = await send(app, { ...parts, id: 'the id' })
      t.equal(answer.status, status)
      t.match(answer.response, { jsonrpc: '2.0', error: { code, message } })
      t.match(answer.headers['content-type'], /^application\/json/)
      // A request that is refused before its body was read is answered without an id (44, 57, 58).
      if (status === 415) t.notOk('id' in answer.response)
      else t.equal(answer.response.id, 'the id')
    })
  }

  // The order of the checks (83): each message breaks the rules of the first and of the second column.
  const older = { 'io.modelcontextprotocol/protocolVersion': '1999-01-01' }
  const orders: ReadonlyArray<readonly [
    first: string, then: string, parts: RequestParts, code: number, status: number
  ]> = [
    [
      'Accept', 'the envelope',
      {
        ...list,
        headers: { accept: 'text/plain' },
        meta: { 'io.modelcontextprotocol/clientCapabilities': undefined }
      },
      -32600, 406
    ],
    [
      'the envelope', 'the version header',
      {
        ...list,
        headers: { 'mcp-protocol-version': undefined },
        meta: { 'io.modelcontextprotocol/clientCapabilities': undefined }
      },
      -32602, 400
    ],
    [
      'the version header', 'the version',
      { ...list, meta: older, headers: { 'mcp-protocol-version': '1999-01-02' } }, -32020, 400
    ],
    [
      'the version', 'Mcp-Method',
      { ...list, meta: older, headers: { 'mcp-protocol-version': '1999-01-01', 'mcp-method': 'wrong' } },
      -32022, 400
    ],
    [
      'Mcp-Method', 'the method', { method: 'nothing/known', headers: { 'mcp-method': 'wrong' } }, -32020, 400
    ],
    [
      'Mcp-Name', 'the tool',
      { method: 'tools/call', params: { name: 'unknown' }, headers: { 'mcp-name': 'other' } }, -32020, 400
    ],
    [
      'Mcp-Name', 'the capability',
      { method: 'tools/call', params: { name: 'needs_sampling' }, headers: { 'mcp-name': 'other' } }, -32020,
      400
    ],
    [
      'the capability', 'the mirrored params',
      { method: 'tools/call', params: { name: 'needs_sampling', arguments: { region: 'eu' } } }, -32021, 400
    ],
    [
      'the params', 'the mirrored params',
      {
        method: 'tools/call',
        params: { name: 'needs_sampling', arguments: 'eu' },
        headers: { 'mcp-param-region': 'us' }
      },
      -32602, 200
    ]
  ]

  for (const [first, then, parts, code, status] of orders) {
    t.test(`checks ${first} before ${then} (83)`, async (t) => {
      const answer = await send(app, parts)
      t.equal(answer.response.error.code, code)
      t.equal(answer.status, status)
    })
  }

  t.test('names the supported versions and the requested one (81, 82)', async (t) => {
    const { response } = await send(app, {
      ...list, meta: older, headers: { 'mcp-protocol-version': '1999-01-01' }
    })
    const { supported, requested } = response.error.data
    t.equal(requested, '1999-01-01')
    const discovered = await send(app, { method: 'server/discover' })
    t.same(supported, discovered.response.result.supportedVersions)
    t.not(supported.length, 0)
  })

  t.test('names the supported versions to a client that begins with a handshake (99, 101)', async (t) => {
    const alone = await buildApp(t, files, { legacy: 'off' })
    const { headers } = toPost(list)
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'a', version: '1' },
        _meta: { progressToken: 1 }
      }
    }
    const answer = await alone.inject({
      method: 'POST',
      url: '/mcp',
      headers: { 'content-type': 'application/json', accept: String(headers.accept) },
      body: JSON.stringify(body)
    })
    t.equal(answer.statusCode, 400)
    t.match(answer.json(), {
      id: 1, error: { code: -32022, data: { supported: ['2026-07-28'], requested: '2025-11-25' } }
    })
  })

  t.test('names the missing capabilities in an object (90, 91)', async (t) => {
    const call = { method: 'tools/call', params: { name: 'needs_sampling' } }
    const { response } = await send(app, call)
    t.same(response.error.data, { requiredCapabilities: { sampling: { tools: {} } } })
    const capable = await send(app, {
      ...call,
      meta: {
        'io.modelcontextprotocol/clientCapabilities': {
          sampling: { tools: {}, context: {} }, unknown: { x: 1 }
        }
      }
    })
    t.equal(capable.status, 200)
    t.equal((await send(app, call)).status, 400, 'the capabilities of an earlier request do not count (64)')
    const form = { method: 'tools/call', params: { name: 'needs_form' } }
    const modeless = await send(app, {
      ...form, meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
    })
    t.equal(modeless.status, 200, 'elicitation without a mode is elicitation by form')
    t.same((await send(app, form)).response.error.data, {
      requiredCapabilities: { elicitation: { form: {} } }
    })
  })
})
