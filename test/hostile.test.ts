// Hostile traffic against the built service. Each kind is refused, costs a bounded amount of the service's
// CPU time, and leaves other callers served.

import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { toolModule, writeCatalog } from './helpers/catalog-folder.ts'
import { toPost, type Message } from './helpers/request.ts'
import { startService, type Service } from './helpers/service.ts'

const SCHEMA = "inputSchema: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } }"
const catalog = await writeCatalog(t, {
  'tools/echo.ts': toolModule('echo', SCHEMA, '(args) => String(args.polluted)')
})
/** The kernel counts CPU time in these, in milliseconds. */
const TICK_MS = 10
/** Node closes a connection whose headers take 15 s, or whose request takes 60 s. It looks every 5 s. */
const [HEADERS_MS, REQUEST_MS, CHECK_MS] = [15_000, 60_000, 5000]

/** The CPU time of the process so far, in milliseconds. */
function cpuOf ({ child: { pid } }: Service): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the process, in parentheses, may have spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** Sends the bytes on a connection of its own. Resolves to the answer, once the service has closed. */
async function sendRaw (t: Test, { url }: Service, bytes: string | Buffer): Promise<string> {
  const socket = open(t, url)
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => { received += text })
  const closed = new Promise<void>((resolve) => { socket.on('close', () => resolve()) })
  socket.end(bytes)
  await closed
  return received
}

function open (t: Test, url: string): Socket {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  // A refused client may be cut off while it still sends.
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  return socket
}

const post = (body: string | Buffer, headers: readonly string[] = []): Buffer => Buffer.concat([
  Buffer.from([
    'POST /mcp HTTP/1.1', 'Host: 127.0.0.1', 'Connection: close', 'Content-Type: application/json',
    'Accept: application/json, text/event-stream', `Content-Length: ${Buffer.byteLength(body)}`, ...headers,
    '\r\n'
  ].join('\r\n')),
  Buffer.from(body)
])

/** A call as an honest client sends it. Returns the text of the result. */
async function callEcho ({ url }: Service, args: object = {}): Promise<string> {
  const { headers, body } = toPost({ method: 'tools/call', params: { name: 'echo', arguments: args } })
  const answer = await fetch(url, { method: 'POST', headers, body })
  const { result }: Message = await answer.json()
  return result.content[0].text
}

const service = await startService(t, { TRIVET_CATALOG: catalog, TRIVET_LOG_LEVEL: 'error' })
// The first requests compile the code that serves them.
for (let count = 0; count < 300; count++) await callEcho(service)

const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
const modernCall = (args: string): string => {
  const { body } = toPost({ method: 'tools/call', params: { name: 'echo', arguments: 'ARGUMENTS' } })
  return body.replace('"ARGUMENTS"', args)
}
const CALL_HEADERS = ['Mcp-Protocol-Version: 2026-07-28', 'Mcp-Method: tools/call', 'Mcp-Name: echo']

interface Attack {
  readonly claim: string
  readonly bytes: Buffer | string
  readonly answer: RegExp
  readonly times: number
  /** What one request may cost, in milliseconds of CPU time. */
  readonly limitMs: number
}

const ATTACKS: readonly Attack[] = [
  {
    claim: 'headers of 64 KiB',
    bytes: post('{}', [`X-Large: ${'a'.repeat(65_536)}`]),
    answer: /^HTTP\/1\.1 431 /,
    times: 200,
    limitMs: 3
  },
  {
    claim: '3,000 headers',
    bytes: post('{}', Array.from({ length: 3000 }, (_, i) => `X-${i}: a`)),
    answer: /^HTTP\/1\.1 431 /,
    times: 200,
    limitMs: 3
  },
  {
    claim: 'a compressed body of 256 MiB',
    bytes: post(gzipSync(Buffer.alloc(256 * 1024 * 1024)), ['Content-Encoding: gzip']),
    answer: /^HTTP\/1\.1 415 [^]*compressed bodies are not read/,
    times: 50,
    limitMs: 30
  },
  {
    claim: 'a body that is said to be larger than it may be',
    bytes: 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n' +
      'Content-Length: 999999999999\r\n\r\n{',
    answer: /^HTTP\/1\.1 413 /,
    times: 200,
    limitMs: 3
  },
  {
    claim: 'half a million open brackets',
    bytes: post('['.repeat(500_000)),
    answer: /^HTTP\/1\.1 400 [^]*deeper than 128 levels/,
    times: 50,
    limitMs: 30
  },
  {
    claim: 'arguments that are nested 100,000 levels deep',
    bytes: post(modernCall(nested(100_000)), CALL_HEADERS),
    answer: /^HTTP\/1\.1 400 [^]*deeper than 128 levels/,
    times: 50,
    limitMs: 30
  },
  {
    claim: 'a key that would change all objects',
    bytes: post(modernCall('{"__proto__":{"polluted":"yes"}}'), CALL_HEADERS),
    answer: /^HTTP\/1\.1 400 [^]*-32700/,
    times: 200,
    limitMs: 3
  },
  {
    claim: 'another key that would change all objects',
    bytes: post(modernCall('{"constructor":{"prototype":{"polluted":"yes"}}}'), CALL_HEADERS),
    answer: /^HTTP\/1\.1 400 [^]*-32700/,
    times: 200,
    limitMs: 3
  },
  {
    claim: 'a text against which the pattern of a tool would backtrack for years',
    bytes: post(modernCall(JSON.stringify({ text: `${'a'.repeat(100_000)}b` })), CALL_HEADERS),
    answer: /^HTTP\/1\.1 200 [^]*"isError":true/,
    times: 20,
    limitMs: 50
  },
  {
    claim: 'a body with two lengths',
    bytes: post('{}', ['Transfer-Encoding: chunked']),
    answer: /^HTTP\/1\.1 400 /,
    times: 200,
    limitMs: 3
  },
  {
    claim: 'no HTTP', bytes: '\x16\x03\x01\x02\x00\x01\r\n\r\n', answer: /^HTTP\/1\.1 400 /, times: 200, limitMs: 3
  }
]

for (const { claim, bytes, answer, times, limitMs } of ATTACKS) {
  t.test(`${claim}: refused for less than ${limitMs} ms of CPU time`, async (t) => {
    // The first one warms up what it needs.
    t.match(await sendRaw(t, service, bytes), answer)
    const before = cpuOf(service)
    for (let sent = 0; sent < times; sent += 10) {
      await Promise.all(Array.from({ length: 10 }, async () => await sendRaw(t, service, bytes)))
    }
    const costMs = (cpuOf(service) - before) / times
    t.ok(costMs < limitMs, `${costMs.toFixed(2)} ms`)
    t.equal(await callEcho(service), 'undefined', 'others are served, and their objects are as before')
  })
}

t.test('clients that send a byte at a time are cut off, and cost almost nothing', async (t) => {
  const counts = { headers: 0, bodies: 0 }
  const trickle = (kind: keyof typeof counts, start: string) => {
    const socket = open(t, service.url)
    socket.write(start)
    const timer = setInterval(() => { if (socket.writable) socket.write('a') }, 1000)
    socket.on('close', () => {
      clearInterval(timer)
      counts[kind]++
    })
    // Its end is noticed only if somebody reads.
    socket.resume()
  }
  const body = post('x'.repeat(1000)).toString().slice(0, -990)
  const before = cpuOf(service)
  for (let count = 0; count < 200; count++) {
    trickle('headers', 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ')
    trickle('bodies', body)
  }
  await pause(1000)
  t.equal(await callEcho(service), 'undefined', 'others are served')
  await pause(HEADERS_MS + 2 * CHECK_MS - 1000)
  t.equal(counts.headers, 200)
  await pause(REQUEST_MS - HEADERS_MS)
  t.equal(counts.bodies, 200)
  const costMs = cpuOf(service) - before
  t.ok(costMs < 7000, `${costMs} ms in ${(REQUEST_MS + 2 * CHECK_MS) / 1000} s, of 400 clients`)
})
