// Writes requests: with the envelope of the current revision, or for a session of an earlier revision.

import { SERVER } from '../catalog/definitions.mjs'

export const REVISION = '2026-07-28'
export const LEGACY_REVISION = '2025-11-25'

const META = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: SERVER.name, version: SERVER.version }
}

const MEDIA_TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/**
 * A modern request, whose headers repeat values of its body.
 *
 * @param {object} [capabilities] those that the client declares
 */
export function modernRequest (method, params, id = 1, capabilities = {}) {
  const name = method === 'subscriptions/listen' ? undefined : params.name ?? params.uri ?? params.taskId
  const _meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': capabilities }
  return {
    method,
    params,
    id,
    headers: {
      ...MEDIA_TYPES,
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...name !== undefined && { 'mcp-name': name }
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })
  }
}

/** @param {string} [session] `undefined` if the server keeps no sessions */
export function legacyRequest (method, params, id = 1, session = undefined) {
  return {
    method,
    params,
    id,
    headers: {
      ...MEDIA_TYPES,
      'mcp-protocol-version': LEGACY_REVISION,
      ...session !== undefined && { 'mcp-session-id': session }
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params })
  }
}

/** Does the handshake. @returns {Promise<string | undefined>} the session id, if the server keeps sessions */
export async function openSession (url) {
  const clientInfo = { name: SERVER.name, version: SERVER.version }
  const params = { protocolVersion: LEGACY_REVISION, capabilities: {}, clientInfo }
  const { headers, body } = legacyRequest('initialize', params)
  const response = await fetch(url, { method: 'POST', headers, body })
  const text = await response.text()
  if (response.status !== 200) {
    throw new Error(`${url} answered initialize with ${response.status}: ${text.slice(0, 300)}`)
  }
  const session = response.headers.get('mcp-session-id') ?? undefined
  const initialized = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  const sessionHeaders = legacyRequest('', {}, 1, session).headers
  await (await fetch(url, { method: 'POST', headers: sessionHeaders, body: initialized })).text()
  return session
}
