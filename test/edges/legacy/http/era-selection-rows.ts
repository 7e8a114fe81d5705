// The requests whose era is tested, each with its answer: the table of the requirements, row by row.

import { META } from '../../../helpers/request.ts'

const VERSION = 'io.modelcontextprotocol/protocolVersion'
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const NOTIFICATION = { jsonrpc: '2.0', method: 'notifications/initialized' }
const RESPONSE = { jsonrpc: '2.0', id: 'x', result: {} }
export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1.0.0' } }
}
const FORGED = 'abcdefgh.forged'
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
const modern = (meta: object = {}) => ({ ...LIST, params: { _meta: { ...META, ...meta } } })

/** The HTTP status, and the code of the error or the kind of the result. */
type Expected = readonly [status: number, outcome?: number | string]

interface Row {
  readonly claim: string
  readonly headers?: { readonly [name: string]: string }
  readonly body?: unknown
  readonly method?: 'GET' | 'DELETE'
  /** The revision of the live session that the request names. */
  readonly session?: string
  readonly on: Expected
  /** The answer without the legacy era. By default the same as `on`. */
  readonly off?: Expected
}

export const ERA_SELECTION_ROWS: readonly Row[] = [
  { claim: 'an envelope and its header', headers: MODERN, body: modern(), on: [200, 'complete'] },
  {
    claim: 'an envelope and its header with a live session',
    headers: MODERN,
    body: modern(),
    session: '2025-11-25',
    on: [200, 'complete']
  },
  {
    claim: 'an envelope and its header with a forged session',
    headers: { ...MODERN, 'mcp-session-id': FORGED },
    body: modern(),
    on: [200, 'complete']
  },
  { claim: 'the current header without _meta', headers: MODERN, body: LIST, on: [400, -32602] },
  {
    claim: 'the current header without _meta with a live session',
    headers: MODERN,
    body: LIST,
    session: '2025-11-25',
    on: [400, -32602]
  },
  {
    claim: 'the current header with the revision alone',
    headers: MODERN,
    body: { ...LIST, params: { _meta: { [VERSION]: '2026-07-28' } } },
    on: [400, -32602]
  },
  {
    claim: 'the current header with the capabilities alone',
    headers: MODERN,
    body: { ...LIST, params: { _meta: { [CAPABILITIES]: {} } } },
    on: [400, -32602]
  },
  {
    claim: 'the current header with a progress token alone',
    headers: MODERN,
    body: { ...LIST, params: { _meta: { progressToken: 1 } } },
    on: [400, -32602]
  },
  {
    claim: 'the current header on a ping',
    headers: { ...MODERN, 'mcp-method': 'ping' },
    body: { ...LIST, method: 'ping' },
    on: [400, -32602]
  },
  {
    claim: 'half an envelope with no header',
    body: { ...LIST, params: { _meta: { [VERSION]: '2026-07-28' } } },
    on: [400, -32602]
  },
  {
    claim: 'an envelope with no header',
    headers: { 'mcp-method': 'tools/list' },
    body: modern(),
    on: [400, -32020]
  },
  {
    claim: 'an envelope with no header with a live session',
    headers: { 'mcp-method': 'tools/list' },
    body: modern(),
    session: '2025-11-25',
    on: [400, -32020]
  },
  {
    claim: 'an envelope with an earlier header',
    headers: { ...MODERN, 'mcp-protocol-version': '2025-11-25' },
    body: modern(),
    on: [400, -32020]
  },
  {
    claim: 'an envelope of an earlier revision with the current header',
    headers: MODERN,
    body: modern({ [VERSION]: '2025-11-25' }),
    on: [400, -32020]
  },
  {
    claim: 'an unknown revision in both',
    headers: { ...MODERN, 'mcp-protocol-version': '2099-01-01' },
    body: modern({ [VERSION]: '2099-01-01' }),
    on: [400, -32022]
  },
  {
    claim: 'an earlier revision in both',
    headers: { ...MODERN, 'mcp-protocol-version': '2025-11-25' },
    body: modern({ [VERSION]: '2025-11-25' }),
    on: [400, -32022]
  },
  {
    claim: 'initialize with an envelope',
    headers: { ...MODERN, 'mcp-method': 'initialize' },
    body: { ...modern(), method: 'initialize' },
    on: [404, -32601]
  },
  {
    claim: 'initialize with an envelope and its own params',
    headers: { ...MODERN, 'mcp-method': 'initialize' },
    body: { ...INITIALIZE, params: { ...INITIALIZE.params, _meta: META } },
    on: [404, -32601]
  },
  { claim: 'initialize with no header (318)', body: INITIALIZE, on: [200, 'session'], off: [400, -32022] },
  {
    claim: 'initialize with an earlier header (318)',
    headers: { 'mcp-protocol-version': '2025-06-18' },
    body: INITIALIZE,
    on: [200, 'session'],
    off: [400, -32022]
  },
  {
    claim: 'initialize with headers of today (318)',
    headers: { 'mcp-method': 'tools/call', 'mcp-name': 'x', 'mcp-param-a': 'b' },
    body: INITIALIZE,
    on: [200, 'session'],
    off: [400, -32022]
  },
  {
    claim: 'initialize with a progress token (318)',
    body: { ...INITIALIZE, params: { ...INITIALIZE.params, _meta: { progressToken: 1 } } },
    on: [200, 'session'],
    off: [400, -32022]
  },
  {
    claim: 'initialize with a session that is not (318)',
    headers: { 'mcp-session-id': FORGED },
    body: INITIALIZE,
    on: [200, 'session'],
    off: [400, -32022]
  },
  { claim: 'a live session', body: LIST, session: '2025-11-25', on: [200, 'legacy'] },
  {
    claim: 'a live session with its header',
    headers: { 'mcp-protocol-version': '2025-11-25' },
    body: LIST,
    session: '2025-11-25',
    on: [200, 'legacy']
  },
  {
    claim: 'a live session with the header of another of its era (349)',
    headers: { 'mcp-protocol-version': '2025-03-26' },
    body: LIST,
    session: '2025-11-25',
    on: [200, 'legacy']
  },
  {
    claim: 'a live session with a progress token',
    body: { ...LIST, params: { _meta: { progressToken: 1 } } },
    session: '2025-11-25',
    on: [200, 'legacy']
  },
  {
    claim: 'a live session with headers of today that are wrong (343)',
    headers: { 'mcp-method': 'tools/call', 'mcp-name': 'x', 'mcp-param-a': '=?base64?!?=' },
    body: LIST,
    session: '2025-11-25',
    on: [200, 'legacy']
  },
  {
    claim: 'a live session with an unknown revision (348, 363)',
    headers: { 'mcp-protocol-version': '1999-01-01' },
    body: LIST,
    session: '2025-06-18',
    on: [400, -32600]
  },
  {
    claim: 'a forged session (324)',
    headers: { 'mcp-session-id': FORGED },
    body: LIST,
    on: [404, -32600],
    off: [400, -32602]
  },
  {
    claim: 'an empty session (324)',
    headers: { 'mcp-session-id': '' },
    body: LIST,
    on: [404, -32600],
    off: [400, -32602]
  },
  {
    claim: 'a notification of a forged session (324)',
    headers: { 'mcp-session-id': FORGED },
    body: NOTIFICATION,
    on: [404, -32600],
    off: [202]
  },
  { claim: 'no session and no header (323)', body: LIST, on: [200, 'legacy'], off: [400, -32602] },
  {
    claim: 'no session and an earlier header (323)',
    headers: { 'mcp-protocol-version': '2025-06-18' },
    body: LIST,
    on: [200, 'legacy'],
    off: [400, -32602]
  },
  {
    claim: 'a method that needs a session, with no session (323)',
    headers: { 'mcp-protocol-version': '2025-06-18' },
    body: { ...LIST, method: 'logging/setLevel', params: { level: 'info' } },
    on: [400, -32600],
    off: [400, -32602]
  },
  {
    claim: 'a notification with no session and an earlier header (323)',
    headers: { 'mcp-protocol-version': '2025-06-18' },
    body: NOTIFICATION,
    on: [202]
  },
  { claim: 'a notification with neither', body: NOTIFICATION, on: [202] },
  { claim: 'a response with no session (330)', body: RESPONSE, on: [400, -32600] },
  {
    claim: 'no session and an unknown header',
    headers: { 'mcp-protocol-version': '1999-01-01' },
    body: LIST,
    on: [400, -32602]
  },
  {
    claim: 'a batch of a session that has batches (372)',
    body: [LIST],
    session: '2025-03-26',
    on: [200, 'batch']
  },
  { claim: 'a batch of the first revision (380)', body: [LIST], session: '2024-11-05', on: [400, -32600] },
  { claim: 'a batch of a later session (362)', body: [LIST], session: '2025-06-18', on: [400, -32600] },
  { claim: 'a batch of the last of them (362)', body: [LIST], session: '2025-11-25', on: [400, -32600] },
  { claim: 'a batch with no session (362)', body: [LIST], on: [400, -32600] },
  {
    claim: 'a batch that says it is current',
    headers: MODERN,
    body: [modern()],
    session: '2025-03-26',
    on: [400, -32600]
  },
  { claim: 'a batch with initialize and no session (373)', body: [INITIALIZE], on: [400, -32600] },
  { claim: 'a DELETE of a live session (325)', method: 'DELETE', session: '2025-11-25', on: [204] },
  {
    claim: 'a DELETE that declares JSON and has no body (325)',
    method: 'DELETE',
    headers: { 'content-type': 'application/json' },
    session: '2025-11-25',
    on: [204]
  },
  {
    claim: 'a GET of a forged session (324)',
    method: 'GET',
    headers: { 'mcp-session-id': FORGED },
    on: [404, -32600],
    off: [405]
  },
  {
    claim: 'a DELETE of a forged session (324)',
    method: 'DELETE',
    headers: { 'mcp-session-id': FORGED },
    on: [404, -32600],
    off: [405]
  },
  { claim: 'a GET with no session (326, 384)', method: 'GET', on: [405] },
  { claim: 'a DELETE with no session (325)', method: 'DELETE', on: [405] }
]
