// The log holds nothing of what a client sends but the path, the host and the origin of a refused request: no
// argument, no record, no id of a session or a handle, and no unknown name.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { buildApp } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { toPost, type RequestParts } from '../../helpers/request.ts'

const CANARY = 'canary4711'
const FILES = {
  'tools/echo.ts': toolModule('echo', "inputSchema: { type: 'object', properties: { n: { type: 'number' }, " +
    "s: { enum: ['a'] } }, additionalProperties: false }", '({ n }) => String(n)'),
  'tools/lies.ts': toolModule('lies', "inputSchema: { type: 'object' }, outputSchema: { type: 'object', " +
    "properties: { s: { type: 'number' } } }", '({ s }) => ({ s })'),
  'prompts/p.md': '---\ndescription: P.\narguments:\n  - name: x\n---\nHello {{x}}.\n',
  'resources/book.resource.ts': "import { defineResourceTemplate } from 'trivet'\nexport default " +
    "defineResourceTemplate({ uriTemplate: 'book://{id}', name: 'book', read: ({ id }) => [{ uri: 'book://x', text: '', mimeType: id, annotations: id }] })\n"
}

/** A canary in each place of a modern request. */
const MODERN: { readonly [place: string]: RequestParts } = {
  'an argument': { method: 'tools/call', params: { name: 'echo', arguments: { n: CANARY } } },
  'an argument of an enum': { method: 'tools/call', params: { name: 'echo', arguments: { s: CANARY } } },
  'an unknown argument': { method: 'tools/call', params: { name: 'echo', arguments: { [CANARY]: 1 } } },
  'arguments of another type': { method: 'tools/call', params: { name: 'echo', arguments: CANARY } },
  'an output that breaks its schema': {
    method: 'tools/call', params: { name: 'lies', arguments: { s: CANARY } }
  },
  'an unknown tool': { method: 'tools/call', params: { name: CANARY, arguments: {} } },
  'an unknown prompt': { method: 'prompts/get', params: { name: CANARY } },
  'an argument of a prompt': { method: 'prompts/get', params: { name: 'p', arguments: { x: CANARY } } },
  'an unknown argument of a prompt': {
    method: 'prompts/get', params: { name: 'p', arguments: { [CANARY]: 'x' } }
  },
  'an unknown resource': { method: 'resources/read', params: { uri: `x://${CANARY}` } },
  'a variable of a template': { method: 'resources/read', params: { uri: `book://${CANARY}` } },
  'a cursor': { method: 'tools/list', params: { cursor: CANARY } },
  'a text to complete': {
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'x', value: CANARY } }
  },
  'an unknown reference': {
    method: 'completion/complete',
    params: { ref: { type: CANARY, name: CANARY, uri: CANARY }, argument: { name: CANARY, value: '' } }
  },
  'a request state': { method: 'tools/call', params: { name: 'echo', arguments: {}, requestState: CANARY } },
  'an input response': {
    method: 'tools/call', params: { name: 'echo', arguments: {}, inputResponses: { [CANARY]: CANARY } }
  },
  'an unknown method': { method: CANARY },
  'a revision': { method: 'tools/list', meta: { 'io.modelcontextprotocol/protocolVersion': CANARY } },
  'the client': { method: 'tools/list', meta: { 'io.modelcontextprotocol/clientInfo': { name: CANARY } } },
  'a log level': { method: 'tools/list', meta: { 'io.modelcontextprotocol/logLevel': CANARY } },
  'a progress token': { method: 'tools/list', meta: { progressToken: CANARY } },
  'an id': { method: 'tools/list', id: CANARY },
  'a URI to listen to': {
    method: 'subscriptions/listen', params: { notifications: { resourceSubscriptions: [CANARY] } }
  },
  ...Object.fromEntries([
    'authorization', 'cookie', 'mcp-method', 'mcp-name', 'mcp-param-x', 'mcp-protocol-version',
    'mcp-session-id', 'last-event-id', 'accept', 'content-type', 'user-agent',
    'x-forwarded-for', 'x-request-id', 'request-id'
  ].map((name) => [`the header ${name}`, { method: 'tools/list', headers: { [name]: CANARY } }]))
}

t.test('no log ever holds what a client sends', async (t) => {
  const log = createReadableLog('trace')
  const auditFile = join(await makeFolder(t), 'audit')
  const app = await buildApp(t, FILES, { logger: log.logger, auditFile })
  for (const [place, parts] of Object.entries(MODERN)) {
    const { headers, body } = toPost(parts)
    const before = log.text().length
    await app.inject({ method: 'POST', url: '/mcp', headers, body })
    const written = log.text().slice(before)
    t.match(written, '"msg":"request"', `${place} gives a line`)
    t.notMatch(written, CANARY, place)
  }
  await app.close()
  const audited = await readFile(auditFile, 'utf8')
  t.match(audited, '"event":"call"')
  t.notMatch(audited, CANARY)
})

t.test('the log never holds what is not even a message', async (t) => {
  const log = createReadableLog('trace')
  const app = await buildApp(t, FILES, { logger: log.logger })
  const { headers } = toPost({ method: 'tools/list' })
  for (const body of [CANARY, `"${CANARY}"`, `{"method":"${CANARY}"`, `{"jsonrpc":"${CANARY}","${CANARY}":1}`,
    JSON.stringify([{ jsonrpc: '2.0', id: CANARY, method: CANARY }])]) {
    await app.inject({ method: 'POST', url: `/mcp?token=${CANARY}`, headers, body })
  }
  for (const method of ['GET', 'DELETE', 'PUT'] as const) {
    await app.inject({ method, url: `/mcp?token=${CANARY}`, headers: { 'mcp-session-id': CANARY } })
  }
  t.notMatch(log.text(), CANARY)
})

t.test('the log of a session never holds what its client sends', async (t) => {
  const log = createReadableLog('trace')
  const app = await buildApp(t, FILES, { logger: log.logger })
  const base = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const post = async (headers: object, message: object) => await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...base, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: CANARY, ...message })
  })
  const opened = await post({}, {
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: CANARY, version: CANARY } }
  })
  const token = String(opened.headers['mcp-session-id'])
  const session = { 'mcp-session-id': token, 'mcp-protocol-version': '2025-06-18' }
  for (const [method, params] of [
    ['logging/setLevel', { level: CANARY }],
    ['resources/subscribe', { uri: CANARY }],
    ['resources/unsubscribe', { uri: CANARY }],
    ['notifications/cancelled', { requestId: CANARY, reason: CANARY }],
    ['tools/call', { name: 'echo', arguments: { n: CANARY } }],
    ['tools/call', { name: CANARY, arguments: {} }],
    [CANARY, {}]
  ] as const) await post(session, { method, params })
  await post(session, { result: { [CANARY]: CANARY } })
  await post({ ...session, 'mcp-session-id': `${token}x` }, { method: 'ping' })
  await app.inject({ method: 'DELETE', url: '/mcp', headers: { ...session } })
  await post(session, { method: 'ping' })
  t.notMatch(log.text(), CANARY)
  t.notMatch(log.text(), token)
})
