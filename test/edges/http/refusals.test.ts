// A refusal arrives, also at a client that still sends, and at one that reads nothing before it has sent all.

import { Agent, request as openRequest } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createStaticToken } from '../../../src/platform/access/static-token-file.ts'
import { FILES } from '../../features/files/file-tools.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { toPost, type Message } from '../../helpers/request.ts'
import { startService } from '../../helpers/service.ts'

const TRIES = 1000
/** The machine of the tests is often busy. */
const TIMEOUT_MS = 120_000
const SENDERS = 12
/** Between two of the calls that are served meanwhile. */
const CALL_PAUSE_MS = 20
const BODY = Buffer.alloc(800_000, 'x')

interface Refused { readonly url: string, readonly headers: { readonly [name: string]: string } }
/** Resolves to the status of the answer, or to the error. */
type Send = (refused: Refused) => Promise<number | string>

const agent = new Agent({ keepAlive: true })
t.teardown(() => agent.destroy())

const sendByHttp: Send = async ({ url, headers }) => await new Promise((resolve) => {
  const options = { method: 'POST', headers: { ...headers, 'content-length': BODY.length }, agent }
  const request = openRequest(url, options, (answer) => {
    answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    answer.on('error', ({ message }) => resolve(message))
  })
  // Between an answer and the next request Node listens for no error of the connection.
  request.on('socket', (socket) => { if (!request.reusedSocket) socket.on('error', () => {}) })
  request.on('error', ({ message }) => resolve(message)).end(BODY)
})

const sendByFetch: Send = async ({ url, headers }) => {
  try {
    const answer = await fetch(url, { method: 'POST', headers, body: BODY })
    await answer.text()
    return answer.status
  } catch (error) {
    return String(error instanceof Error ? error.cause : error)
  }
}

/** Reads nothing before it has sent all. */
const sendBeforeReading: Send = async ({ url, headers }) => await new Promise((resolve) => {
  const { hostname, port, pathname, host } = new URL(url)
  const socket = connect(Number(port), hostname).pause()
  let answer = ''
  let problem = 'no answer'
  const lines = Object.entries({ host, connection: 'close', 'content-length': BODY.length, ...headers })
  socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\n`)
  socket.write(BODY, () => socket.on('data', (chunk) => { answer += chunk.toString('latin1') }).resume())
  socket.on('error', ({ message }) => { problem = message })
  socket.on('close', () => {
    const [, status] = /^HTTP\/1\.1 (\d+) /.exec(answer) ?? []
    resolve(status === undefined ? problem : Number(status))
  })
})

const WAYS = [sendByHttp, sendByFetch, sendBeforeReading]

async function serve (t: Test) {
  const expiresAt = new Date('2100-01-01T00:00:00Z')
  const { token, entry } = createStaticToken({ subject: 'ada', scopes: [], expiresAt })
  const catalog = await writeCatalog(t, { ...FILES, 'tokens.yaml': `${entry}\n` })
  const { url } = await startService(t, {
    TRIVET_CATALOG: catalog,
    TRIVET_AUTH: 'tokens',
    TRIVET_AUTH_TOKENS: join(catalog, 'tokens.yaml'),
    TRIVET_MAX_CALLS_PER_CALLER: 'off',
    TRIVET_MAX_BODY_BYTES: '65536',
    TRIVET_LOG_LEVEL: 'error'
  })
  return { url, authorization: `Bearer ${token}` }
}

t.setTimeout(TIMEOUT_MS * 4)
t.test('no refusal is lost', { timeout: TIMEOUT_MS * 4 }, async (t) => {
  const { url, authorization } = await serve(t)
  const { headers, body } = toPost({
    method: 'tools/call',
    params: { name: 'take', arguments: { maxBytes: 5000 } },
    meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } },
    headers: { authorization }
  })
  const call = async (): Promise<Message> => {
    return await (await fetch(url, { method: 'POST', headers, body })).json()
  }
  const { result } = await call()
  const page = result.inputRequests.upload.params.url

  /** Calls that are served meanwhile. */
  const over = new AbortController()
  const types = new Set<string>()
  const others = (async () => {
    while (!over.signal.aborted) {
      types.add((await call()).result.resultType)
      await pause(CALL_PAUSE_MS)
    }
  })()
  const form = { 'content-type': 'multipart/form-data; boundary=x' }
  const refusals: ReadonlyArray<readonly [claim: string, status: number, refused: Refused]> = [
    ['a body that is too large', 413, { url, headers }],
    ['a body of another type', 415, { url, headers: { ...headers, 'content-type': 'text/plain' } }],
    ['a body of somebody unknown', 401, { url, headers: { ...headers, authorization: 'Bearer x' } }],
    ['a file that is too large', 413, { url: page, headers: form }],
    ['a path that does not exist', 404, { url: new URL('/nothing', url).href, headers }]
  ]
  for (const [claim, status, refused] of refusals) {
    t.test(`the answer to ${claim} arrives ${TRIES} times of ${TRIES}`, { timeout: TIMEOUT_MS }, async (t) => {
      const outcomes = new Map<number | string, number>()
      let count = 0
      await Promise.all(Array.from({ length: SENDERS }, async (_, sender) => {
        while (count++ < TRIES) {
          const outcome = await WAYS[sender % WAYS.length]?.(refused) ?? 'no way'
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        }
      }))
      t.strictSame([...outcomes], [[status, TRIES]])
    })
  }
  t.test('and others are served', async (t) => {
    over.abort()
    await others
    t.strictSame([...types], ['input_required'])
  })
})
