// The spans of HTTP requests that reach no method, as the built service sends them to a collector.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createStaticToken } from '../../../src/platform/access/static-token-file.ts'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { startOtlpReceiver } from '../../servers/otlp-receiver.ts'
import { toPost } from '../../helpers/request.ts'
import { startService } from '../../helpers/service.ts'
import { openSession } from '../../helpers/session.ts'
import { post } from '../../helpers/stream.ts'

const CANARY = 'canary-4711'
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SERVER = 2
const ERROR = 2
const QUICK = { OTEL_BSP_SCHEDULE_DELAY: '50' }
const FILES = {
  'tools/hello.ts': toolModule('hello'),
  'tools/waits.ts': toolModule(
    'waits', '', "() => new Promise((resolve) => setTimeout(resolve, 1000, 'done'))"
  )
}

/** Each request has a parent of its own, by which its span is found. */
function createParents () {
  let count = 0
  return () => {
    const spanId = (++count).toString(16).padStart(16, '0')
    return { spanId, traceparent: `00-${TRACE}-${spanId}-01` }
  }
}

const catalog = await writeCatalog(t, FILES)
const { token, entry } = createStaticToken({
  subject: 'ada', scopes: [], expiresAt: new Date('2100-01-01T00:00:00Z')
})
const tokens = join(await writeCatalog(t, {}), 'tokens.yaml')
await writeFile(tokens, `${entry}\n`)
const receiver = await startOtlpReceiver(t)
const service = await startService(t, {
  ...QUICK,
  TRIVET_CATALOG: catalog,
  TRIVET_OTLP_URL: receiver.url,
  TRIVET_AUTH: 'tokens',
  TRIVET_AUTH_TOKENS: tokens,
  TRIVET_MAX_BODY_BYTES: '10000',
  TRIVET_LOG_LEVEL: 'info'
})
const authorization = `Bearer ${token}`
const toParent = createParents()
const list = toPost({ method: 'tools/list' })
const withoutContent = { authorization, 'content-type': undefined }

async function ask (
  headers: { readonly [name: string]: string | undefined }, init: RequestInit = {}, path = ''
): Promise<{ spanId: string, status: number }> {
  const { spanId, traceparent } = toParent()
  const all = { ...list.headers, authorization, traceparent, ...headers }
  const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  const { status } = await fetch(`${service.url}${path}`, {
    method: 'POST', body: list.body, ...init, headers: sent as { [name: string]: string }
  })
  return { spanId, status }
}

t.test('a refused request is a span of a server, with its HTTP status', async (t) => {
  const legacy = { 'mcp-protocol-version': '2025-11-25', 'mcp-method': undefined }
  const old = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const cases: ReadonlyArray<readonly [number, string, object, Parameters<typeof ask>]> = [
    [401, 'POST', {}, [{ authorization: undefined }]],
    [401, 'POST', {}, [{ authorization: `Bearer ${CANARY}` }]],
    [403, 'POST', {}, [{ origin: `https://${CANARY}.example` }]],
    [404, 'POST', {}, [{}, {}, `/${CANARY}?token=${CANARY}`]],
    [404, 'POST', {}, [{ ...legacy, 'mcp-session-id': CANARY }, { body: old }]],
    [405, 'PUT', {}, [{}, { method: 'PUT' }]],
    [405, 'GET', {}, [withoutContent, { method: 'GET', body: null }]],
    [406, 'tools/list', { 'mcp.method.name': 'tools/list' }, [{ accept: 'text/html' }]],
    [413, 'POST', {}, [{}, { body: `"${CANARY.repeat(1000)}"` }]],
    [415, 'POST', {}, [{ 'content-type': 'text/plain' }]],
    [400, 'POST', { 'rpc.response.status_code': '-32700' }, [{}, { body: `{ ${CANARY}` }]],
    [400, 'tools/list', { 'mcp.method.name': 'tools/list' }, [{ 'mcp-method': CANARY }]]
  ]
  for (const [status, name, attributes, parts] of cases) {
    const { spanId: parentSpanId, status: answered } = await ask(...parts)
    t.equal(answered, status)
    const span = await receiver.find({ parentSpanId })
    t.match(span, {
      name,
      traceId: TRACE,
      kind: SERVER,
      status: { code: 0 },
      attributes: {
        'http.request.method': parts[1]?.method ?? 'POST',
        'http.response.status_code': status,
        'network.transport': 'tcp',
        ...attributes
      }
    })
    t.notOk('error.type' in span.attributes, 'an error of the client is no failure')
    t.strictSame(receiver.below(span), [])
  }
  t.equal(receiver.spans.length, cases.length)
})

t.test('a notification is a span with its method, in every revision', async (t) => {
  const method = 'notifications/cancelled'
  const notify = async (name: string) => await ask({ 'mcp-method': name }, {
    body: JSON.stringify({ jsonrpc: '2.0', method: name, params: { requestId: CANARY, reason: CANARY } })
  })
  const { spanId, status } = await notify(method)
  t.equal(status, 202)
  t.match(await receiver.find({ parentSpanId: spanId }), {
    name: method,
    kind: SERVER,
    attributes: {
      'mcp.method.name': method, 'http.request.method': 'POST', 'http.response.status_code': 202
    }
  })
  const unknown = await receiver.find({ parentSpanId: (await notify(`notifications/${CANARY}`)).spanId })
  t.equal(unknown.name, 'POST', 'a method that no revision has is the text of the client')
  t.notOk('mcp.method.name' in unknown.attributes)

  const { spanId: parentSpanId, traceparent } = toParent()
  const session = await openSession(t, service.url, { headers: { authorization, traceparent } })
  await receiver.find({ parentSpanId, name: 'initialize' })
  const attributes = { 'mcp.method.name': 'notifications/initialized', 'http.response.status_code': 202 }
  t.match(await receiver.find({ parentSpanId, name: 'notifications/initialized' }), { attributes })
  const own = toParent()
  await session.notify(method, { requestId: 7, _meta: { traceparent: own.traceparent } })
  const named = await receiver.find({ parentSpanId: own.spanId, name: method })
  t.match(named.links, [{ spanId: parentSpanId }], 'the message names its parent, as requests do')
  t.equal((await session.http('DELETE')).status, 204)
  await receiver.find({ parentSpanId, name: 'DELETE' })
  t.notOk(receiver.bytes().includes(String(session.token)), 'nothing of the session')
})

t.test('the log has the id of the trace', async (t) => {
  const { spanId } = await ask({ authorization: undefined })
  await receiver.find({ parentSpanId: spanId })
  const line = service.stdout().split('\n').findLast((line) => line.includes('"status":401')) ?? '{}'
  t.equal(JSON.parse(line).traceId, TRACE)
})

t.test('no span has a token, a path or a text of the client', async (t) => {
  t.ok(receiver.spans.length > 15)
  for (const secret of [CANARY, token, 'ada']) t.notOk(receiver.bytes().includes(secret))
})

t.test('a request that is shed has no span', async (t) => {
  const receiver = await startOtlpReceiver(t)
  const { url, stop } = await startService(t, {
    ...QUICK, TRIVET_CATALOG: catalog, TRIVET_OTLP_URL: receiver.url, TRIVET_MAX_REQUESTS: '1'
  })
  const body = { method: 'tools/call', params: { name: 'waits' } }
  const answers = await Promise.all(Array.from({ length: 8 }, async () => await post(t, url, body)))
  const served = answers.filter(({ status }) => status === 200).length
  t.ok(served < answers.length, `${served} of ${answers.length} are served`)
  await stop()
  t.equal(receiver.spans.filter(({ kind }) => kind === SERVER).length, served)
})

t.test('a failure of the service is one of its span', async (t) => {
  const receiver = await startOtlpReceiver(t)
  const { url, child } = await startService(t, {
    ...QUICK, TRIVET_CATALOG: catalog, TRIVET_OTLP_URL: receiver.url, TRIVET_DRAIN_MS: '0'
  })
  child.kill('SIGTERM')
  await until(async () => (await post(t, url, { method: 'tools/list' })).status === 503, 'a refusal')
  t.match(await receiver.find({ name: 'POST' }), {
    status: { code: ERROR, message: '' },
    attributes: { 'error.type': '503', 'http.response.status_code': 503, 'rpc.response.status_code': '503' }
  })
})
