// The built service with an SDK that its operator registers by `node --import`.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { within } from '../../helpers/deadline.ts'
import { startOtlpReceiver } from '../../servers/otlp-receiver.ts'
import { startService } from '../../helpers/service.ts'
import { openSession } from '../../helpers/session.ts'
import { post } from '../../helpers/stream.ts'

const SDK = import.meta.resolve('../../helpers/operator-sdk.mjs')
const CLIENT = 3
const FILES = {
  'tools/fetches.ts': toolModule(
    'fetches', "inputSchema: { type: 'object', properties: { url: { type: 'string' } } }",
    "async ({ url }, ctx) => await ctx.span('load', async () => await (await fetch(url)).text())"
  ),
  'prompts/p.ts': "import { definePrompt } from 'trivet'\nexport default definePrompt({ name: 'p', " +
    "arguments: [{ name: 'url' }], render: async ({ url }) => await (await fetch(url)).text() })\n"
}

/** A service that a handler calls. It answers with the trace context that it was sent. */
async function startTarget (t: Test): Promise<string> {
  const server = createServer((request, response) => { response.end(request.headers.traceparent) })
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

t.test('an instrumented fetch hangs below the handler that calls it, in both eras', async (t) => {
  const [receiver, other] = [await startOtlpReceiver(t), await startOtlpReceiver(t)]
  const url = await startTarget(t)
  const service = await startService(t, {
    TRIVET_CATALOG: await writeCatalog(t, FILES),
    NODE_OPTIONS: `--import=${SDK}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '600000',
    TRIVET_OTLP_URL: other.url,
    TRIVET_LOG_LEVEL: 'info'
  })
  const called = await post(t, service.url, {
    method: 'tools/call', params: { name: 'fetches', arguments: { url } }
  })
  const rendered = await post(t, service.url, {
    method: 'prompts/get', params: { name: 'p', arguments: { url } }
  })
  const session = await openSession(t, service.url)
  const { result } = await session.call('fetches', { url })
  t.equal(await within(service.stop(), 'the exit', 15_000), 0)

  const paths = [
    [called.response.result.content[0].text, ['load', 'execute_tool fetches', 'tools/call fetches']],
    [rendered.response.result.messages[0].content.text, ['render_prompt p', 'prompts/get p']],
    [result.content[0].text, ['load', 'execute_tool fetches', 'tools/call fetches']]
  ] as const
  for (const [sent, names] of paths) {
    const [, traceId, spanId] = sent.split('-')
    const client = receiver.spans.find((span) => span.spanId === spanId)
    t.match(client, { kind: CLIENT, traceId, name: 'GET' }, 'the SDK sends its last spans at the end')
    let parent = client?.parentSpanId
    const path: string[] = []
    for (let span; (span = receiver.spans.find(({ spanId }) => spanId === parent)) !== undefined;) {
      path.push(span.name)
      parent = span.parentSpanId
    }
    t.strictSame(path, names)
  }
  t.match(service.stdout(), /TRIVET_OTLP_URL is not used: an SDK of OpenTelemetry is registered/)
  t.strictSame(other.spans, [])
})
