// Good requests among the others: their answers are known.

import { toPost } from '../helpers/request.ts'
import type { Draft, Knowledge } from './drafts.ts'
import type { Random } from './random.ts'

type Judge = NonNullable<Draft['judge']>

export function makeProbe (random: Random, known: Knowledge): Draft {
  const word = `probe ${random.below(1e9)}`
  return random.pick<() => Draft>([
    () => modern('tools/call', { name: 'echo', arguments: { text: word } }, isText(word)),
    () => modern(
      'prompts/get', { name: 'greet', arguments: { who: word, tone: 'dear' } }, has(`Hello ${word}, dear.`)
    ),
    () => modern('resources/read', { uri: 'file:///open.txt' }, has('an open text')),
    () => modern('tools/list', {}, has('"name":"')),
    () => legacy(known, word),
    () => simple('main', '/livez', 200, 'ok'),
    () => simple('main', '/readyz', 200, 'ok'),
    () => simple('main', '/.well-known/oauth-protected-resource/mcp', 200, 'authorization_servers'),
    () => simple('admin', '/readyz', 200, '"ready":true')
  ])()
}

const isText = (text: string): Judge => (status, body) => {
  const content = status === 200 ? JSON.parse(body).result?.content?.[0]?.text : undefined
  return content === text ? undefined : `the tool must answer ${JSON.stringify(text)}`
}

const has = (text: string): Judge => (status, body) => {
  const isRight = status === 200 && body.includes(text) && !body.includes('"error"')
  return isRight ? undefined : `the answer must have ${text}`
}

function modern (method: string, params: { readonly [name: string]: unknown }, judge: Judge): Draft {
  const { headers, body } = toPost({ method, params })
  return {
    kind: 'good request',
    target: 'main',
    method: 'POST',
    path: '/mcp',
    headers: Object.entries(headers),
    body,
    judge
  }
}

/** A call in a session, or the handshake of a new one. */
function legacy (known: Knowledge, word: string): Draft {
  const session = known.probeSession
  const params = { name: 'echo', arguments: { text: word } }
  const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params }
  const handshake = {
    jsonrpc: '2.0',
    id: 7,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'probe', version: '1' } }
  }
  return {
    kind: 'good request',
    target: 'main',
    method: 'POST',
    path: '/mcp',
    headers: [
      ['Content-Type', 'application/json'], ['Accept', 'application/json, text/event-stream'],
      ...(session === undefined ? [] : [['Mcp-Session-Id', session.token] as const])
    ],
    body: JSON.stringify(session === undefined ? handshake : call),
    judge: session === undefined ? has('"protocolVersion":"2025-11-25"') : isText(word),
    ...(session !== undefined && { session })
  }
}

function simple (target: Draft['target'], path: string, wanted: number, text: string): Draft {
  return {
    kind: 'good request',
    target,
    method: 'GET',
    path,
    headers: [],
    judge (status, body) {
      return status === wanted && body.includes(text) ? undefined : `the answer must be ${wanted} with ${text}`
    }
  }
}
