// The requests that the endpoint serves, and how it answers them.

import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { type RequestParts, send, toPost } from '../../helpers/request.ts'

const files = {
  'tools/echo.ts': toolModule(
    'echo', "inputSchema: { type: 'object', properties: { x: {} } }", '({ x }) => JSON.stringify(x ?? null)'
  ),
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
      'an Authorization header that is not needed',
      { ...list, headers: { authorization: 'Bearer x' } }
    ]
  ]

  for (const [claim, parts] of served) {
    t.test(`serves a request with ${claim}`, async (t) => {
      const { status, headers, response } = await send(app, parts)
      t.equal(status, 200)
      t.equal(response.id, 1)
      // The completion names an unknown argument: it is an error, but it passed the checks.
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

  t.test('answers each of many simultaneous requests with the same id (15, 53, 65)', async (t) => {
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

  t.test('accepts a notification without MCP headers, with 202 and no body (10, 12, 61)', async (t) => {
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

  t.test('allows only POST without the legacy era (49)', async (t) => {
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

  t.test('serves no other path', async (t) => {
    for (const url of ['/', '/mcp/x', '/mcpx', '/sse']) {
      t.equal((await app.inject({ method: 'POST', url, ...toPost(list) })).statusCode, 404, url)
    }
  })
})

t.test('the endpoint is also served with a slash at its end', async (t) => {
  const app = await buildApp(t, {})
  t.equal((await send(app, { method: 'tools/list' }, '/mcp/')).status, 200)
})

t.test('says which methods the endpoint has', async (t) => {
  for (const [legacy, allow] of [['on', 'GET, POST, DELETE, OPTIONS'], ['off', 'POST, OPTIONS']] as const) {
    const { statusCode, headers } = await (await buildApp(t, {}, { legacy })).inject({
      method: 'OPTIONS', url: '/mcp'
    })
    t.strictSame([statusCode, headers.allow], [204, allow])
  }
})

t.test('pages of allowed origins may read that a path does not exist', async (t) => {
  const app = await buildApp(t, {}, { allowedOrigins: ['https://app.example.com'] })
  const ask = async (origin: string) => await app.inject({ url: '/sse', headers: { origin } })
  const allowed = await ask('https://app.example.com')
  t.equal(allowed.statusCode, 404)
  t.equal(allowed.headers['access-control-allow-origin'], 'https://app.example.com')
  t.notOk('access-control-allow-origin' in (await ask('https://evil.example.com')).headers)
})

t.test('refusals and unknown paths are logged with their reason', async (t) => {
  const { logger, lines } = createReadableLog('info')
  const app = await buildApp(t, {}, { logger })
  const last = () => lines.findLast(({ msg }) => msg === 'request')
  await app.inject({ url: `/none/${'x'.repeat(500)}?token=secret` })
  t.match(last(), { method: 'GET', status: 404, reason: /does not have this path/ })
  t.equal(last().path.length, 203)
  await app.inject({ url: '/none?token=secret' })
  t.equal(last().path, '/none', 'without the query')
  await send(app, { method: 'tools/list', headers: { host: `evil.example${'x'.repeat(500)}` } })
  t.match(last(), { status: 403, path: '/mcp', reason: /^Invalid request: Host/ })
  t.match(last().host, /^evil\.examplex{188}\.\.\.$/)
  await send(app, { method: 'tools/list', headers: { origin: 'https://evil\u00e9\u0007.example' } })
  t.match(last(), { status: 403, origin: 'https://evil??.example' })
  await send(app, { method: 'tools/list', headers: { accept: 'text/html' } })
  t.match(last(), { status: 406, reason: /Accept must list/ })
})
