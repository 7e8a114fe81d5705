// Requests beside the endpoint: links to files, well-known addresses, health, the admin address, and bytes
// that are no HTTP.

import { damage, type Draft, type Knowledge } from './drafts.ts'
import { mutateHeaders } from './mutations.ts'
import type { Random } from './random.ts'

type Header = readonly [name: string, value: string]

const spoil = (headers: readonly Header[], random: Random): readonly Header[] =>
  random.chance(0.5) ? headers : mutateHeaders(headers, random)

/** Links work without a token too. */
function authorizationOf ({ authorization }: Knowledge, random: Random): Header[] {
  return authorization === undefined || random.chance(0.3) ? [] : [['Authorization', authorization]]
}

/** A download, the page of an upload, or the form that it sends. */
export function makeFileRequest (random: Random, known: Knowledge): Draft {
  const link = known.use(random, 'links')
  const path = random.weighted([
    [8, link.startsWith('/') ? link : `/mcp/files/${link}`], [1, '/mcp/files/'],
    [1, '/mcp/files/..%2f..%2fetc/passwd'], [1, `${link.startsWith('/') ? link : '/mcp/files/x'}?a=b`]
  ])
  if (random.chance(0.35)) return makeUpload(random, known, path)
  const range = random.pick([
    'bytes=0-3', 'bytes=-2', 'bytes=8-', 'bytes=20-', 'bytes=0-1,3-4', 'lines=1-2', 'bytes=5-2'
  ])
  const headers: Header[] = [
    ...(random.chance(0.5) ? [['Range', range] as const] : []),
    ...(random.chance(0.2) ? [['If-None-Match', random.pick(['*', '"x"', 'W/"x"'])] as const] : []),
    ...(random.chance(0.1) ? [['If-Range', '"x"'] as const] : [])
  ]
  return {
    kind: 'file download',
    target: 'main',
    method: random.weighted([[8, 'GET'], [2, 'HEAD'], [1, random.pick(['PUT', 'DELETE', 'OPTIONS'])]]),
    path,
    headers: spoil([...headers, ...authorizationOf(known, random)], random),
    leaveAfterMs: 500
  }
}

function makeUpload (random: Random, known: Knowledge, path: string): Draft {
  const boundary = random.chance(0.9) ? 'b0undary' : random.text()
  const part = (disposition: string, type: string, content: string) => [
    '--b0undary', `Content-Disposition: form-data; ${disposition}`, `Content-Type: ${type}`, '', content, ''
  ].join('\r\n')
  const name = random.pick(['a.txt', '../../a.txt', '', 'a"b.txt', 'é.txt', 'a.exe', random.text()])
  const content = random.pick(['', 'text', 'x'.repeat(3000), 'x'.repeat(70_000)])
  const parts = random.pick([
    part(`name="file"; filename="${name}"`, 'text/plain', content),
    part('name="other"', 'text/plain', 'y') + part(`name="file"; filename="${name}"`, 'text/plain', content),
    part(`name="file"; filename="${name}"`, 'text/plain', content).repeat(2), '',
    part('name="file"', 'x', 'y')
  ])
  const end = random.chance(0.85) ? '--b0undary--\r\n' : random.text()
  const type = random.pick(['multipart/mixed; boundary=b0undary', 'application/json', 'multipart/form-data'])
  const usual = `multipart/form-data; boundary=${boundary}`
  return {
    kind: 'file upload',
    target: 'main',
    method: 'POST',
    path,
    headers: spoil(
      [['Content-Type', random.chance(0.85) ? usual : type], ...authorizationOf(known, random)], random
    ),
    body: Buffer.from(parts + end),
    leaveAfterMs: 500
  }
}

const PATHS = [
  '/livez', '/readyz', '/metrics', '/.well-known/oauth-protected-resource', '/mcp;x', '*', '/metrics/',
  '/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-authorization-server', '/LIVEZ',
  '/.well-known/mcp', '/.well-known/', '/favicon.ico', '/', '/mcp/../metrics', '//', '/%', '/%00',
  '/%2e%2e/', '/readyz?x=%ff', 'http://evil.example/livez'
]

/** A well-known address, health, or the admin address. */
export function makeOtherRequest (random: Random): Draft {
  const target = random.chance(0.5) ? 'main' : 'admin'
  const headers = random.chance(0.5) ? [] : mutateHeaders([['Accept', '*/*']], random)
  return {
    kind: `other ${target}`,
    target,
    method: random.weighted([
      [8, 'GET'], [3, random.pick(['HEAD', 'OPTIONS', 'POST', 'PUT', 'TRACE', 'PROPFIND'])]
    ]),
    path: random.chance(0.9)
      ? random.pick(PATHS)
      : `/${encodeURIComponent(random.text().replaceAll(/[\ud800-\udfff]/g, '?'))}`,
    headers,
    leaveAfterMs: 500
  }
}

const POST = 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n'
const RAW = [
  'GET / HTTP/1.1\r\n\r\n', 'GET /livez HTTP/1.0\r\n\r\n', 'GET /livez HTTP/3.0\r\nHost: a\r\n\r\n',
  '\x16\x03\x01\x02\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', `${POST}Content-Length: -1\r\n\r\n`,
  `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
  `${POST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  `${POST}Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{`,
  `${POST}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
  'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil\r\n\r\n',
  'GET /livez HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n',
  'GET  /livez HTTP/1.1\r\nHost: a\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', '\r\n\r\n\r\n',
  'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n',
  `GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
  `GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n${'X: y\r\n'.repeat(2500)}\r\n`
]

export function makeRawRequest (random: Random): Draft {
  const text = random.pick(RAW)
  return {
    kind: 'raw bytes',
    target: random.chance(0.8) ? 'main' : 'admin',
    method: 'GET',
    path: '/',
    headers: [],
    raw: random.chance(0.6) ? text : damage(text, random),
    leaveAfterMs: 30
  }
}
