// What one message of an earlier revision may cost: each kind that the current revision does not have, as
// large as a body may be.

import t from 'tap'
import { buildApp } from '../../../helpers/app.ts'
import { toolModule } from '../../../helpers/catalog-folder.ts'
import { checkCosts, countStoreUse, LARGE, posted, UNLIMITED } from '../../../helpers/request-cost.ts'

const members = (count: number) => Object.fromEntries(
  Array.from({ length: count }, (_, index) => [`key ${index}`, index])
)
const deep = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
const initialize = (params: object = {}) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-03-26',
    clientInfo: { name: 'test', version: '1' },
    capabilities: {},
    ...params
  }
})
const request = (method: string, params: object = {}, id: number | string = 1) => ({
  jsonrpc: '2.0', id, method, params
})
const batch = (count: number, make: (id: number) => object) => {
  return Array.from({ length: count }, (_, id) => make(id))
}

const MESSAGES: { readonly [kind: string]: unknown } = {
  'initialize with many capabilities': initialize({ capabilities: { experimental: members(45_000) } }),
  'initialize with deep capabilities': initialize({ capabilities: { sampling: { x: deep(3000) } } }),
  'initialize with a long name': initialize({ clientInfo: { name: 'x'.repeat(LARGE), version: '1' } }),
  'initialize with a long revision': initialize({ protocolVersion: 'x'.repeat(LARGE) }),
  'a ping with many members': request('ping', members(45_000)),
  'a notification with many members': {
    jsonrpc: '2.0', method: 'notifications/initialized', params: members(45_000)
  },
  'a cancellation of a long id': {
    jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'x'.repeat(LARGE) }
  },
  'a log level that is a long text': request('logging/setLevel', { level: 'x'.repeat(LARGE) }),
  'a subscription to a long text': request('resources/subscribe', { uri: `test://${'é'.repeat(400_000)}` }),
  'the end of a subscription to a long text': request('resources/unsubscribe', { uri: 'x'.repeat(LARGE) }),
  'an id that is a long text': request('ping', {}, 'x'.repeat(LARGE)),
  'a batch of too many messages': batch(15_000, (id) => request('ping', {}, id)),
  'a batch of pings': batch(100, (id) => request('ping', members(500), id)),
  'a batch of calls': batch(100, (id) => request('tools/call', { name: 'a', arguments: members(400) }, id)),
  'a batch of lists': batch(100, (id) => request('tools/list', {}, id)),
  'a batch of malformed messages': batch(100, () => ({ jsonrpc: '2.0', id: {}, method: members(500) }))
}

t.test('no kind of message costs more CPU time than its limit', async (t) => {
  const use = countStoreUse(t)
  const app = await buildApp(t, { 'tools/a.ts': toolModule('a') }, { constants: UNLIMITED })
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const begun = await app.inject({ method: 'POST', url: '/mcp', headers, body: JSON.stringify(initialize()) })
  const id = String(begun.headers['mcp-session-id'])
  t.equal(begun.statusCode, 200)
  await checkCosts(t, use, Object.entries(MESSAGES).map(([kind, message]) => {
    const ofSession = kind.startsWith('initialize') ? {} : { 'mcp-session-id': id }
    const body = JSON.stringify(message)
    const request = posted(app, kind, { headers: { ...headers, ...ofSession }, body })
    return kind.startsWith('the end of a subscription') ? { ...request, reads: 1, writes: 1 } : request
  }))
})
