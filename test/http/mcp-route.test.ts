import fc from 'fast-check'
import t from 'tap'
import { buildApp } from '../helpers/app.ts'
import { toolModule } from '../helpers/catalog-folder.ts'
import { META, readMessages, type RequestParts, send, toPost } from '../helpers/request.ts'

const mirrored = `inputSchema: {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry-Run' },
    target: { type: 'object', properties: { zone: { type: 'string', 'x-mcp-header': 'Zone' } } }
  }
}`

const files = {
  'tools/echo.ts': toolModule(
    'echo', "inputSchema: { type: 'object', properties: { x: {} } }", '({ x }) => JSON.stringify(x ?? null)'
  ),
  'tools/route.ts': toolModule('route', mirrored),
  'prompts/gruß.md': '---\ndescription: Says hello.\n---\nHello\n',
  'resources/notes.txt': 'large'
}

const list = { method: 'tools/list' }
const echo = { method: 'tools/call', params: { name: 'echo', arguments: { x: 1 } } }
const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`

t.test('the endpoint', async (t) => {
  const app = await buildApp(t, files)

  const served: ReadonlyArray<readonly [claim: string, parts: RequestParts]> = [
    ['no client info (79)', { ...list, meta: { 'io.modelcontextprotocol/clientInfo': undefined } }],
    [
      'capabilities that it does not know (92)',
      {
        ...list,
        meta: {
          'io.modelcontextprotocol/clientCapabilities': { roots: { listChanged: true }, 'x.example/y': 1 }
        }
      }
    ],
    [
      'keys in the envelope that it does not know (94)',
      { ...list, meta: { 'x.example/y': [null], 'io.modelcontextprotocol/other': 1 } }
    ],
    [
      'the media types in the other order (14)',
      { ...list, headers: { accept: 'text/event-stream, application/json' } }
    ],
    [
      'further media types and weights (14)',
      { ...list, headers: { accept: 'text/html;q=0.8, Application/JSON;q=0.1 ,text/event-stream; q=1' } }
    ],
    ['any media type (14)', { ...list, headers: { accept: '*/*' } }],
    ['any media type of each kind (14)', { ...list, headers: { accept: 'application/*, text/*' } }],
    ['no Accept at all (14)', { ...list, headers: { accept: undefined } }],
    [
      'a content type with a charset',
      { ...list, headers: { 'content-type': 'application/json; charset=utf-8' } }
    ],
    [
      'header names in any case (31)',
      {
        ...echo,
        headers: {
          'mcp-method': undefined, 'MCP-METHOD': 'tools/call', 'mcp-name': undefined, 'Mcp-NAME': 'echo'
        }
      }
    ],
    [
      'whitespace around header values (32)',
      {
        ...echo,
        headers: {
          'mcp-method': ' tools/call ', 'mcp-name': '\techo ', 'mcp-protocol-version': ' 2026-07-28 '
        }
      }
    ],
    ['an encoded Mcp-Name (33)', { ...echo, headers: { 'mcp-name': base64('echo') } }],
    [
      'an Mcp-Name that must be encoded: a prompt (33)',
      { method: 'prompts/get', params: { name: 'gruß' }, headers: { 'mcp-name': base64('gruß') } }
    ],
    [
      'an encoded Mcp-Name: a resource (33)',
      {
        method: 'resources/read',
        params: { uri: 'file:///notes.txt' },
        headers: { 'mcp-name': base64('file:///notes.txt') }
      }
    ],
    [
      'no Mcp-Name on other methods (30)',
      {
        method: 'completion/complete',
        params: { ref: { type: 'ref/prompt', name: 'gruß' }, argument: { name: 'none', value: '' } }
      }
    ],
    ['an Mcp-Name on other methods (30)', { ...list, headers: { 'mcp-name': 'whatever' } }],
    ['a session id (47)', { ...list, headers: { 'mcp-session-id': 'abc' } }],
    ['a last event id (48)', { ...list, headers: { 'last-event-id': '7' } }],
    [
      'an unknown Mcp-Param header (43)',
      { ...echo, headers: { 'mcp-param-unknown': 'x', 'mcp-param-broken': '=?base64?!?=' } }
    ],
    [
      'an Authorization header, where nobody asks for one',
      { ...list, headers: { authorization: 'Bearer x' } }
    ]
  ]

  for (const [claim, parts] of served) {
    t.test(`serves a request with ${claim}`, async (t) => {
      const { status, headers, response } = await send(app, parts)
      t.equal(status, 200)
      t.equal(response.id, 1)
      // Its completion of an argument that is not there is wrong, but was admitted.
      if (parts.method !== 'completion/complete') t.equal(response.result?.resultType, 'complete')
      t.notOk('mcp-session-id' in headers, 'mints no session (47)')
      t.match(headers['content-type'], /^application\/json/, 'one JSON object (13)')
    })
  }

  t.test('echoes an id in its own type, zero and empty ones too (52, 54)', async (t) => {
    for (const id of [0, -1, 7, Number.MAX_SAFE_INTEGER, '', '7', 'ü"\u0000']) {
      t.equal((await send(app, { ...list, id })).response.id, id)
    }
  })

  t.test('answers the same id again and again, and each of many at once (15, 53, 65)', async (t) => {
    const answers = await Promise.all(
      Array.from(
        { length: 20 },
        async (_, x) => await send(app, { method: 'tools/call', params: { name: 'echo', arguments: { x } } })
      )
    )
    for (const [x, { status, response }] of answers.entries()) {
      t.equal(status, 200)
      t.equal(response.result.content[0].text, String(x))
    }
  })

  t.test('takes a notification with 202 and says nothing, without any of the MCP headers (10, 12, ' +
    '61)', async (t) => {
    for (const body of [
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
      { jsonrpc: '2.0', method: 'notifications/unheard' }, { jsonrpc: '2.0', method: 'tools/list' }
    ]) {
      const answer = await app.inject({
        method: 'POST',
        url: '/mcp',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body)
      })
      t.equal(answer.statusCode, 202)
      t.equal(answer.body, '')
      t.notOk('mcp-session-id' in answer.headers)
    }
  })

  t.test('without earlier revisions it allows POST alone (49)', async (t) => {
    const app = await buildApp(t, files, { legacy: 'off' })
    for (const method of ['GET', 'HEAD', 'DELETE', 'PUT', 'PATCH'] as const) {
      const answer = await app.inject({
        method, url: '/mcp', headers: { accept: 'text/event-stream', 'mcp-session-id': 'abc' }
      })
      t.equal(answer.statusCode, 405, method)
      t.equal(answer.headers.allow, 'POST')
      t.equal(answer.body, '')
    }
  })

  t.test('has nothing under any other path', async (t) => {
    for (const url of ['/', '/mcp/x', '/mcpx', '/sse']) {
      t.equal((await app.inject({ method: 'POST', url, ...toPost(list) })).statusCode, 404, url)
    }
  })

  const route = (args: unknown, headers: RequestParts['headers'] = {}) => ({
    method: 'tools/call', params: { name: 'route', arguments: args }, headers
  })

  const agreeing: ReadonlyArray<readonly [claim: string, parts: RequestParts]> = [
    ['a string (37)', route({ region: 'eu' }, { 'mcp-param-region': 'eu' })],
    ['a string with whitespace around it (32)', route({ region: 'eu' }, { 'Mcp-Param-Region': '  eu ' })],
    ['an encoded string (33)', route({ region: 'größer' }, { 'mcp-param-region': base64('größer') })],
    ['an empty string (37)', route({ region: '' }, { 'mcp-param-region': '' })],
    ['an integer (42)', route({ count: 42 }, { 'mcp-param-count': '42' })],
    ['an integer with a point and zeros (41)', route({ count: 42 }, { 'mcp-param-count': '42.0' })],
    [
      'zero and false (42)',
      route({ count: 0, dry: false }, { 'mcp-param-count': '0', 'mcp-param-dry-run': 'false' })
    ],
    ['a boolean (42)', route({ dry: true }, { 'mcp-param-dry-run': 'true' })],
    ['a nested value (40)', route({ target: { zone: 'a' } }, { 'mcp-param-zone': 'a' })],
    ['nothing where there are no arguments (38)', { method: 'tools/call', params: { name: 'route' } }],
    ['nothing where the argument is absent (38)', route({ target: {} })],
    ['what no annotation mentions (43)', route({}, { 'mcp-param-other': 'x' })]
  ]

  for (const [claim, parts] of agreeing) {
    t.test(`takes headers that mirror ${claim}`, async (t) => {
      const { status, response } = await send(app, parts)
      t.equal(status, 200)
      t.same(response.result.content, [{ type: 'text', text: 'ok' }])
    })
  }

  t.test('asks for no header where the argument is null (38)', async (t) => {
    t.equal((await send(app, route({ region: null }))).status, 200)
  })

  const differing: ReadonlyArray<readonly [claim: string, parts: RequestParts]> = [
    ['is missing (37)', route({ region: 'eu' })],
    ['differs (37)', route({ region: 'eu' }, { 'mcp-param-region': 'us' })],
    ['differs in case (37)', route({ region: 'eu' }, { 'mcp-param-region': 'EU' })],
    ['is missing for an empty string (37)', route({ region: '' })],
    ['is missing for false (37)', route({ dry: false })],
    ['says True (42)', route({ dry: true }, { 'mcp-param-dry-run': 'True' })],
    ['is another integer (41)', route({ count: 42 }, { 'mcp-param-count': '42.5' })],
    ['is no integer at all (42)', route({ count: 42 }, { 'mcp-param-count': '0x2a' })],
    ['is sent without the argument (39)', route({}, { 'mcp-param-region': 'eu' })],
    ['is sent for a null argument (39)', route({ region: null }, { 'mcp-param-region': 'null' })],
    ['mirrors a flat name in place of the path (40)', route({ zone: 'a' }, { 'mcp-param-zone': 'a' })],
    ['is missing for a nested value (40)', route({ target: { zone: 'a' } })],
    ['lacks its padding (34)', route({ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8?=' })],
    [
      'holds what is not of the alphabet (34)',
      route({ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8$?=' })
    ],
    ['lacks the first marker (35)', route({ region: 'Hello' }, { 'mcp-param-region': 'SGVsbG8=?=' })],
    ['lacks the last marker (35)', route({ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8=' })],
    [
      'holds a character that it may not (36)',
      route({ region: 'gr\xfc\xdf' }, { 'mcp-param-region': 'gr\xfc\xdf' })
    ]
  ]

  for (const [claim, parts] of differing) {
    t.test(`refuses a call whose Mcp-Param header ${claim}`, async (t) => {
      const { status, response } = await send(app, { ...parts, id: 'the id' })
      t.equal(status, 400)
      t.match(response, { id: 'the id', error: { code: -32020 } })
    })
  }

  t.test('answers anything with JSON or nothing, and never with a fault of its own', async () => {
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
    const params = fc.record({
      name: fc.oneof(fc.constantFrom('echo', 'route'), fc.jsonValue()),
      uri: fc.jsonValue(),
      cursor: fc.jsonValue(),
      arguments: args,
      ref: fc.oneof(
        fc.record({
          type: fc.constantFrom('ref/prompt', 'ref/resource'), name: fc.string(), uri: fc.webUrl()
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
    // Most of what is generated agrees with its headers: only then is it looked at further.
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
          'mcp-name': base64(String(Object(body.params).name))
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
})

t.test('a service that only this machine can reach', async (t) => {
  const app = await buildApp(t, files)
  const withHeaders = async (headers: RequestParts['headers']) => await send(app, {
    ...list, headers: headers ?? {}
  })

  t.test('answers to the names of this machine, under any port (5)', async (t) => {
    for (const host of [
      'localhost', '127.0.0.1', '[::1]', 'localhost:3000', '127.0.0.1:80', '[::1]:8080', 'LOCALHOST:1'
    ]) {
      t.equal((await withHeaders({ host })).status, 200, host)
    }
  })

  t.test('answers to no other name: 403 and an error without an id (5)', async (t) => {
    for (const host of [
      'evil.example', 'evil.example:3000', 'localhost.evil.example', '127.0.0.1.evil.example',
      'localhost:3000:80', 'xlocalhost'
    ]) {
      const { status, response } = await withHeaders({ host })
      t.equal(status, 403, host)
      t.equal(response.error.code, -32600)
      t.notOk('id' in response)
    }
  })

  t.test('answers pages of this machine, and what is no page (4)', async (t) => {
    for (const origin of [
      undefined, 'http://localhost', 'http://localhost:5173', 'https://127.0.0.1:8443', 'http://[::1]:3000'
    ]) {
      t.equal((await withHeaders({ origin })).status, 200, String(origin))
    }
  })

  t.test('answers no other page, by whatever method: 403 and an error without an id (2, 3)', async (t) => {
    for (const origin of [
      'https://evil.example', 'http://localhost.evil.example', 'http://evil.example#localhost', 'null', '',
      'file://'
    ]) {
      for (const method of ['POST', 'GET', 'DELETE', 'OPTIONS'] as const) {
        const { headers, body } = toPost(list)
        const answer = await app.inject({
          method, url: '/mcp', headers: { ...headers, origin }, ...(method === 'POST' ? { body } : {})
        })
        t.equal(answer.statusCode, 403, `${method} from ${origin}`)
        t.notOk('id' in answer.json())
      }
    }
  })

  t.test('is refused before anything else is looked at (2)', async (t) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { origin: 'https://evil.example', 'content-type': 'text/plain' },
      body: '{'
    })
    t.equal(answer.statusCode, 403)
  })
})

t.test('a service that others can reach', async (t) => {
  const app = await buildApp(t, files, {
    allowedHosts: ['shop.example', 'Other.example:8443'], allowedOrigins: ['https://app.example']
  })
  const statusOf = async (headers: { [name: string]: string }) => (
    await send(app, { ...list, headers })
  ).status
  t.equal(
    await statusOf({ host: 'localhost' }), 200,
    'answers to the names of this machine while it does not listen'
  )
  await app.listen({ host: '0.0.0.0', port: 0 })

  t.test('answers to the hosts that it was given', async (t) => {
    for (const host of ['shop.example', 'SHOP.example:443', 'other.example:8443']) {
      t.equal(await statusOf({ host }), 200, host)
    }
    for (const host of ['other.example', 'other.example:1', 'localhost', 'sub.shop.example']) {
      t.equal(await statusOf({ host }), 403, host)
    }
  })

  t.test('answers the origins that it was given, and tells the browser (3)', async (t) => {
    const { status, headers } = await send(app, {
      ...list, headers: { host: 'shop.example', origin: 'https://app.example' }
    })
    t.equal(status, 200)
    t.equal(headers['access-control-allow-origin'], 'https://app.example')
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: '/mcp',
      headers: {
        host: 'shop.example',
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'mcp-method'
      }
    })
    t.equal(preflight.statusCode, 204)
    t.match(preflight.headers, {
      'access-control-allow-methods': 'POST', 'access-control-allow-headers': 'mcp-method'
    })
    for (const origin of [
      'http://app.example', 'https://app.example:444', 'https://evil.example', 'http://localhost:3000'
    ]) {
      t.equal(await statusOf({ host: 'shop.example', origin }), 403, origin)
    }
  })

  t.test('answers under any host where it was given none, but no page', async (t) => {
    const open = await buildApp(t, files)
    await open.listen({ host: '0.0.0.0', port: 0 })
    t.equal((await send(open, { ...list, headers: { host: 'any.example' } })).status, 200)
    t.equal(
      (await send(open, { ...list, headers: { host: 'any.example', origin: 'https://any.example' } })).status,
      403
    )
  })

  t.test('is served over the socket from the first request on', async (t) => {
    const open = await buildApp(t, files)
    const port = new URL(await open.listen({ host: '0.0.0.0', port: 0 })).port
    const { headers, body } = toPost(list)
    const answer = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: 'POST', headers: { ...headers, connection: 'close' }, body
    })
    t.equal(answer.status, 200)
  })

  t.test('keeps to the names of this machine on each of its loopback addresses', async (t) => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const local = await buildApp(t, files)
      await local.listen({ host, port: 0 })
      t.equal((await send(local, { ...list, headers: { host: 'localhost:1' } })).status, 200)
      t.equal((await send(local, { ...list, headers: { host: 'evil.example' } })).status, 403)
    }
  })
})
