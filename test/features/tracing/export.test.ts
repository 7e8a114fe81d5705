// The built service with TRIVET_OTLP_URL, and a collector that decodes what it sends.

import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createStaticToken } from '../../../src/platform/access/static-token-file.ts'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { counterModule } from '../../helpers/counter-module.ts'
import { until, within } from '../../helpers/deadline.ts'
import { startOtlpReceiver, type OtlpReceiver } from '../../servers/otlp-receiver.ts'
import type { Message, RequestParts } from '../../helpers/request.ts'
import { startService, type Service } from '../../helpers/service.ts'
import { openSession } from '../../helpers/session.ts'
import { post } from '../../helpers/stream.ts'

const CANARY = 'canary-4711'
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const SERVER = 2
const INTERNAL = 1
const ERROR = 2

const FILES = {
  'tools/echo.ts': toolModule('echo', "inputSchema: { type: 'object' }", `async ({ text }, ctx) => {
    ctx.progress(1)
    return await ctx.span('part', async () => text)
  }`),
  'tools/fails.ts': toolModule(
    'fails', "inputSchema: { type: 'object' }", 'async ({ text }) => { throw new Error(text) }'
  ),
  'tools/lists.ts': counterModule('list', 'lst', 'idleTtlMs: 60_000')
}

/** Spans leave soon, and a collector that is away is noticed soon. */
const QUICK = { OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_EXPORTER_OTLP_TIMEOUT: '300', TRIVET_LOG_LEVEL: 'info' }

async function start (t: Test, environment: { readonly [variable: string]: string }): Promise<Service> {
  return await startService(t, { TRIVET_CATALOG: await writeCatalog(t, FILES), ...QUICK, ...environment })
}

const call = (name: string, args: object = {}, rest: Partial<RequestParts> = {}): RequestParts =>
  ({ method: 'tools/call', params: { name, arguments: args }, ...rest })

function logLines ({ stdout }: Service): Message[] {
  return stdout().split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
}

const linesWith = (service: Service, text: string) =>
  logLines(service).filter(({ msg }) => String(msg).includes(text))

/** The span, after checking that it hangs below the other. */
async function below (receiver: OtlpReceiver, parentSpanId: string, name: string) {
  return await receiver.find({ name, parentSpanId })
}

t.test('each message is a span in the trace of its client, and says nothing that is private', async (t) => {
  const receiver = await startOtlpReceiver(t)
  const catalog = await writeCatalog(t, FILES)
  const { token, entry } = createStaticToken({
    subject: 'ada', scopes: [], expiresAt: new Date('2100-01-01T00:00:00Z')
  })
  const tokens = join(catalog, 'tokens.yaml')
  await writeFile(tokens, `${entry}\n`)
  const service = await start(t, {
    TRIVET_OTLP_URL: receiver.url, TRIVET_CATALOG: catalog, TRIVET_AUTH: 'tokens', TRIVET_AUTH_TOKENS: tokens
  })
  const headers = { authorization: `Bearer ${token}` }
  const meta = { traceparent: `00-${TRACE}-${PARENT}-01`, progressToken: CANARY }
  await post(t, service.url, call('echo', { text: CANARY }, { headers, meta }))
  const created = await post(t, service.url, call('create_list', {}, { headers, meta }))
  const id = created.response.result.content[0].text
  await post(t, service.url, call('change_list', { id, name: CANARY }, { headers, meta }))
  await post(t, service.url, call('fails', { text: CANARY }, { headers, meta }))
  const session = await openSession(t, service.url, { headers })
  await session.call('echo', { text: CANARY }, { meta: { traceparent: `00-${TRACE}-${'1'.repeat(16)}-01` } })

  const modern = await below(receiver, PARENT, 'tools/call echo')
  t.match(modern, {
    traceId: TRACE,
    kind: SERVER,
    scope: 'trivet',
    status: { code: 0 },
    attributes: {
      'mcp.method.name': 'tools/call',
      'mcp.protocol.version': '2026-07-28',
      'gen_ai.tool.name': 'echo',
      'gen_ai.operation.name': 'execute_tool',
      'network.transport': 'tcp',
      'jsonrpc.request.id': '1'
    },
    resource: { 'service.name': 'trivet', 'service.version': /^\d+\.\d+\.\d+/ }
  })
  const handler = await below(receiver, modern.spanId, 'execute_tool echo')
  t.equal(handler.kind, INTERNAL)
  await below(receiver, handler.spanId, 'part')
  const change = await below(receiver, PARENT, 'tools/call change_list')
  const run = await below(receiver, change.spanId, 'execute_tool change_list')
  const update = await below(receiver, run.spanId, 'update list')
  t.strictSame(update.attributes, { 'trivet.handle.kind': 'list' })
  t.match(await below(receiver, PARENT, 'tools/call fails'), {
    status: { code: ERROR, message: '' },
    attributes: { 'error.type': '-32603', 'rpc.response.status_code': '-32603' }
  })
  const legacy = await below(receiver, '1'.repeat(16), 'tools/call echo')
  t.match(legacy, { traceId: TRACE, attributes: { 'mcp.protocol.version': '2025-11-25' } })
  await below(receiver, '', 'initialize')
  t.strictSame([...receiver.paths], ['/v1/traces'])
  for (const secret of [CANARY, id, token, String(session.token), 'ada']) {
    t.notOk(receiver.bytes().includes(secret), 'nothing that is private is exported')
  }
})

t.test('OTEL_SERVICE_NAME and the sampler of OTEL_TRACES_SAMPLER count', async (t) => {
  const receiver = await startOtlpReceiver(t)
  const service = await start(t, {
    TRIVET_OTLP_URL: `${receiver.url}/v1/traces/`,
    OTEL_SERVICE_NAME: 'shop',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0'
  })
  for (let i = 0; i < 20; i++) await post(t, service.url, call('echo'))
  await post(t, service.url, call('echo', {}, { meta: { traceparent: `00-${TRACE}-${PARENT}-01` } }))
  const span = await below(receiver, PARENT, 'tools/call echo')
  t.match(span.resource, { 'service.name': 'shop', 'deployment.environment.name': 'test' })
  await service.stop()
  t.ok(receiver.spans.every(({ traceId }) => traceId === TRACE))
  t.strictSame([...receiver.paths], ['/v1/traces'])
})

t.test('SIGTERM loses no span', async (t) => {
  const receiver = await startOtlpReceiver(t)
  const service = await start(t, { TRIVET_OTLP_URL: receiver.url, OTEL_BSP_SCHEDULE_DELAY: '600000' })
  const count = 300
  for (let i = 0; i < count; i++) await post(t, service.url, { method: 'tools/list' })
  t.equal(receiver.spans.length, 0, 'they wait')
  t.equal(await within(service.stop(), 'the exit', 15_000), 0)
  t.equal(receiver.spans.length, count)
})

t.test('a collector that is away harms no request, and the log says when it goes and comes', async (t) => {
  const port = await findFreePort()
  const service = await start(t, { TRIVET_OTLP_URL: `http://127.0.0.1:${port}` })
  const ask = async () => {
    const { response } = await post(t, service.url, call('echo', { text: 'here' }))
    t.equal(response.result.content[0].text, 'here')
  }
  await ask()
  await until(() => linesWith(service, 'does not take spans').length === 1, 'the line', 30_000)
  t.match(linesWith(service, 'does not take spans'), [{ level: 40, reason: /ECONNREFUSED/, spans: Number }])
  for (let i = 0; i < 3; i++) await ask()
  const receiver = await startOtlpReceiver(t, port)
  await until(async () => {
    await ask()
    return receiver.spans.length > 0
  }, 'spans', 30_000)
  await until(() => linesWith(service, 'takes spans again').length === 1, 'the line', 30_000)
  t.equal(linesWith(service, 'does not take spans').length, 1)
  t.match(linesWith(service, 'takes spans again'), [{ level: 30, lostSpans: Number }])
  t.equal(await within(service.stop(), 'the exit', 15_000), 0)
})

t.test('a collector that does not answer delays neither requests nor the end', async (t) => {
  const receiver = await startOtlpReceiver(t)
  receiver.answer = 'hang'
  const service = await start(t, {
    TRIVET_OTLP_URL: receiver.url,
    OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
    OTEL_BSP_MAX_QUEUE_SIZE: '50',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10'
  })
  for (let i = 0; i < 100; i++) {
    t.match((await post(t, service.url, call('echo', { text: 'x' }))).response, { result: {} })
  }
  t.equal(await within(service.stop(), 'the exit', 15_000), 0)
})

t.test('spans that the collector does not take in time are dropped, and the log says so', async (t) => {
  const receiver = await startOtlpReceiver(t)
  receiver.answer = 'hang'
  const service = await start(t, {
    TRIVET_OTLP_URL: receiver.url, OTEL_BSP_MAX_QUEUE_SIZE: '20', OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '10'
  })
  await until(async () => {
    await post(t, service.url, call('echo', { text: 'x' }))
    return linesWith(service, 'spans were dropped').length > 0
  }, 'the line', 30_000)
  t.equal(linesWith(service, 'does not take spans').length, 1)
})

async function findFreePort (): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => { server.close(resolve) })
  return port
}
