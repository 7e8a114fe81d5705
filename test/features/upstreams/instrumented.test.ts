// An operator's instrumentation of undici makes no second span, and no second header.

import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import t from 'tap'
import { recordSpans } from '../../helpers/recorded-spans.ts'
import { openCaller, startUpstream, textOf } from './upstream-server.ts'

const spans = recordSpans()
const instrumentation = new UndiciInstrumentation()
instrumentation.enable()
t.teardown(() => instrumentation.disable())

t.test('a call has one span, and one header', async (t) => {
  let raw: readonly string[] = []
  const upstream = await startUpstream(t, ({ rawHeaders }, response) => {
    raw = rawHeaders
    response.end('ok')
  })
  const { call } = await openCaller(t, upstream, {
    run: "async (_, ctx) => await (await ctx.fetch(crm, 'x')).text()"
  })
  t.equal(textOf(await call()), 'ok')
  const span = await spans.named('GET crm')
  const { traceId, spanId } = span.spanContext()
  t.strictSame(raw.filter((text) => text.startsWith('00-')), [`00-${traceId}-${spanId}-01`])
  t.strictSame(spans.all().filter(({ kind }) => kind === 2).map(({ name }) => name), ['GET crm'])
  // The instrumentation works.
  await (await fetch(upstream.url)).text()
  t.ok(spans.all().some(({ name, kind }) => name === 'GET' && kind === 2))
})
