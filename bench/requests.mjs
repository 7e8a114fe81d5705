// The requests that every peer gets, and what makes an answer to one a good one.

import { isDeepStrictEqual } from 'node:util'
import { prompts, resources, SERVER, toolName } from './data.mjs'
import { search } from './search.mjs'

export const REVISION = '2026-07-28'
export const LEGACY_REVISION = '2025-11-25'

const META = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: SERVER.name, version: SERVER.version },
  'io.modelcontextprotocol/clientCapabilities': {}
}

const LEGACY_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': LEGACY_REVISION
}

/** A modern request: its headers mirror its body. */
export function modernRequest (method, params) {
  const name = method === 'subscriptions/listen' ? undefined : params.name ?? params.uri
  return {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...name !== undefined && { 'mcp-name': name }
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: META } })
  }
}

/**
 * The same request as a client of an earlier revision sends it, in each of the sessions.
 *
 * @param {{ method: string, body: string }} modern
 * @param {string[]} sessions
 */
export function toLegacyRequest ({ body, ...modern }, sessions) {
  const { params: { _meta, ...params }, ...message } = JSON.parse(body)
  const legacyBody = JSON.stringify({ ...message, params })
  const headersOf = (session) => ({ ...LEGACY_HEADERS, 'mcp-session-id': session })
  return {
    ...modern,
    headers: headersOf(sessions[0]),
    body: legacyBody,
    variants: sessions.map((session) => ({ headers: headersOf(session), body: legacyBody }))
  }
}

/** Shakes hands, and returns the session's id. */
export async function openSession (url) {
  const params = { protocolVersion: LEGACY_REVISION, capabilities: {}, clientInfo: { name: SERVER.name, version: SERVER.version } }
  const response = await fetch(url, { method: 'POST', headers: LEGACY_HEADERS, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }) })
  const { result } = await response.json()
  const session = response.headers.get('mcp-session-id')
  if (result?.protocolVersion !== LEGACY_REVISION || session === null) throw new Error(`${url} made no session at ${LEGACY_REVISION}`)
  return session
}

/**
 * What is measured at a size: one request per method, with `isRight`, which looks at a result.
 *
 * @param {number} toolCount
 */
export function requests (toolCount) {
  const tool = toolName(Math.floor(toolCount / 2))
  const args = { query: 'three legs', limit: 10, sort: 'newest', tags: ['iron', 'kitchen'], archived: false }
  const prompt = prompts()[7]
  const resource = resources()[7]
  return [
    {
      ...modernRequest('tools/list', {}),
      isRight: (result) => result.tools.length === toolCount
    },
    {
      ...modernRequest('tools/call', { name: tool, arguments: args }),
      isRight: (result) => isDeepStrictEqual(result.structuredContent, search(tool, args))
    },
    {
      ...modernRequest('prompts/get', { name: prompt.name, arguments: { subject: 'trivets' } }),
      isRight: (result) => result.messages[0].content.text.trim() === prompt.text('trivets')
    },
    {
      ...modernRequest('resources/read', { uri: resource.uri }),
      isRight: (result) => result.contents[0].text === resource.text
    }
  ]
}

/**
 * Sends one request and returns the answer's text.
 *
 * @throws where the answer is not a 200 with the right result
 */
export async function ask (url, { method, headers, body, isRight }) {
  const response = await fetch(url, { method: 'POST', headers, body })
  const text = await response.text()
  if (response.status !== 200 || !isGood(text, isRight)) {
    throw new Error(`${url} answered ${method} with ${response.status}: ${text.slice(0, 500)}`)
  }
  return text
}

function isGood (text, isRight) {
  try {
    return isRight(JSON.parse(text).result)
  } catch {
    return false
  }
}
