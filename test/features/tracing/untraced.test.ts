// A service without an SDK of OpenTelemetry.

import t from 'tap'
import { openRequestTracer, openTraceSink } from '../../../src/features/tracing/tracing.ts'
import { buildApp } from '../../helpers/app.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { send } from '../../helpers/request.ts'

t.test('ctx.span only calls its function', async (t) => {
  const run = `async (_, ctx) => {
    const said = [await ctx.span('sync', () => 'a'), await ctx.span('async', async () => 'b')]
    said.push(await ctx.span('lazy', () => ({ then: (resolve) => resolve('c') })))
    await ctx.span('throws', () => { throw new RangeError('d') }).catch((e) => said.push(e.message))
    await ctx.span('', () => said.push('never')).catch((e) => said.push(e.name))
    return said.join()
  }`
  const app = await buildApp(t, { 'tools/a.ts': toolModule('a', '', run) })
  const { response } = await send(app, { method: 'tools/call', params: { name: 'a' } })
  t.equal(response.result.content[0].text, 'a,b,c,d,TypeError')
})

t.test('has no tracer, also when only other parts of the API are used', async (t) => {
  const { logger, lines } = createReadableLog()
  const options = { url: undefined, readVersion: () => '1.0.0', log: logger }
  t.equal(await openRequestTracer(logger), undefined)
  t.equal(await openTraceSink(options), undefined)
  const { diag, DiagConsoleLogger, DiagLogLevel } = await import('@opentelemetry/api')
  diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.NONE)
  t.equal(await openRequestTracer(logger), undefined)
  t.equal(await openTraceSink(options), undefined)
  t.strictSame(lines, [])
})
