// What is told of calls: the log, metrics, spans and the audit log, and never a secret or a query.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createService } from '../../../src/app/app.ts'
import { createLoadGuard } from '../../../src/catalog/compiled/load-guard.ts'
import { writeCatalog } from '../../helpers/catalog-folder.ts'
import { until } from '../../helpers/deadline.ts'
import { createReadableLog } from '../../helpers/log.ts'
import { QUIET } from '../../helpers/quiet-options.ts'
import { recordSpans } from '../../helpers/recorded-spans.ts'
import { send } from '../../helpers/request.ts'
import { crmModule, startUpstream } from './upstream-server.ts'

const spans = recordSpans()
const CANARIES = ['secret', 'query', 'body', 'answer', 'header', 'user'].map((one) => `canary-${one}`)

t.test('tells who called what, and neither secrets nor queries', async (t) => {
  const headers: Array<{ readonly [name: string]: unknown }> = []
  const upstream = await startUpstream(t, (request, response) => {
    headers.push(request.headers)
    const { pathname } = new URL(request.url ?? '', 'http://x')
    if (pathname === '/api/bad') response.writeHead(500).end('canary-answer')
    else if (pathname === '/api/lost') response.destroy()
    else if (pathname === '/api/moved') {
      response.writeHead(302, { location: 'http://canary-user:x@evil/?canary-query' }).end()
    } else response.setHeader('content-type', 'text/canary-answer').end('canary-answer')
  })
  const folder = await writeCatalog(t, {
    'lib/crm.ts': crmModule(upstream.url, `retry: false, settings: defineSettings({
        KEY: { type: 'string', secret: true, default: 'canary-secret' }
      }), auth: { type: 'basic', user: 'canary-user', password: ({ KEY }) => KEY }`),
    'tools/call.ts': `import { defineTool } from 'trivet'
      import { crm } from '../lib/crm.ts'
      const call = (ctx, path, init) => ctx.fetch(crm, path, {
        query: { q: 'canary-query' }, headers: { 'x-own': 'canary-header' }, ...init
      }).then((answer) => answer.text(), () => 'failed')
      export default defineTool({
        name: 'call',
        async run (_, ctx) {
          await call(ctx, 'customers/7?canary-query=1', { method: 'POST', body: 'canary-body' })
          await call(ctx, 'bad')
          await call(ctx, 'lost')
          await call(ctx, 'moved')
          await call(ctx, 'x', { accept: 'application/json' })
          await call(ctx, '../x?canary-query')
          await call(ctx, 'x', { headers: { authorization: 'canary-header' } })
          await call(ctx, 'x', { headers: { 'x-own': 'canary-header\\n' } })
          return 'done'
        }
      })`,
    'tools/none.ts': `import { defineTool } from 'trivet'
      export default defineTool({ name: 'none', run: () => 'x' })`
  })
  const log = createReadableLog('trace')
  const auditFile = join(folder, '..', `audit-${process.pid}.jsonl`)
  const { app, admin } = await createService(
    { ...QUIET, catalog: folder, logger: log.logger, auditFile },
    { guard: createLoadGuard(), build: { version: '1', node: '20' } }
  )
  t.teardown(async () => {
    await app.close()
    await admin?.close()
  })
  const { response } = await send(app, { method: 'tools/call', params: { name: 'call' } })
  t.equal(response.result.content[0].text, 'done')
  await send(app, { method: 'tools/call', params: { name: 'none' } })

  t.match(log.lines.filter(({ upstream }) => upstream === 'crm'), [
    { msg: 'upstream call', level: 20, method: 'POST', path: '/api/customers/7', status: 200, outcome: 'ok' },
    { msg: 'upstream call', path: '/api/bad', status: 500, outcome: 'server_error' },
    { msg: 'upstream call failed', level: 40, path: '/api/lost', outcome: 'unreachable', err: { code: /./ } },
    { msg: 'upstream call failed', path: '/api/moved', status: 302, outcome: 'redirected' },
    { msg: 'upstream call failed', path: '/api/x', status: 200, outcome: 'wrong_type' },
    { msg: 'upstream call', path: '/api/x', outcome: 'invalid' }
  ])

  const { body: metrics = '' } = await admin?.inject('/metrics') ?? {}
  t.match(metrics, 'trivet_upstream_calls_total{upstream="crm",outcome="ok"} 1')
  t.match(metrics, 'trivet_upstream_calls_total{upstream="crm",outcome="server_error"} 1')
  t.match(metrics, 'trivet_upstream_calls_total{upstream="crm",outcome="unreachable"} 1')
  t.match(metrics, 'trivet_upstream_call_duration_seconds_count{upstream="crm"} 6')
  t.match(metrics, 'trivet_upstream_calls_running{upstream="crm"} 0')

  const handler = await spans.named('execute_tool call')
  const calls = spans.all().filter(({ name }) => /^(?:GET|POST) crm$/.test(name))
  t.match(calls.map(({ name, kind, attributes }) => ({ name, kind, attributes })), [
    {
      name: 'POST crm',
      kind: 2,
      attributes: {
        'http.request.method': 'POST', 'server.address': '127.0.0.1', 'http.response.status_code': 200
      }
    },
    { name: 'GET crm', attributes: { 'http.response.status_code': 500, 'error.type': '500' } },
    { name: 'GET crm', attributes: { 'error.type': 'unreachable' } },
    { attributes: { 'error.type': 'redirected' } },
    { attributes: { 'error.type': 'wrong_type' } },
    { attributes: { 'error.type': 'invalid' } }
  ])
  t.ok(calls.every(({ parentSpanContext }) => parentSpanContext?.spanId === handler.spanContext().spanId))
  const [first] = calls
  t.equal(headers[0]?.traceparent, `00-${first?.spanContext().traceId}-${first?.spanContext().spanId}-01`)

  let audit = ''
  await until(async () => {
    audit = await readFile(auditFile, 'utf8').catch(() => '')
    return audit.split('\n').length > 2
  }, 'the audit log')
  const [line, other] = audit.trim().split('\n').map((text) => JSON.parse(text))
  t.strictSame(line.upstreams, [{ name: 'crm', as: 'service', calls: 6, failed: 4 }])
  t.notOk('upstreams' in other)

  const traced = spans.all().map((span) => [span.name, span.attributes, span.events, span.status])
  const told = [log.text(), metrics, audit, JSON.stringify(response), JSON.stringify(traced)].join('\n')
  const encoded = btoa('canary-user:canary-secret')
  for (const canary of [...CANARIES, encoded]) t.notOk(told.includes(canary), canary)
})

t.test('a problem of a definition quotes no secret', async (t) => {
  for (const definition of [
    "auth: { type: 'secret', value: 'canary-secret\\n' }",
    "auth: { type: 'basic', user: 'canary:secret', password: 'canary-secret' }",
    `settings: defineSettings({ KEY: { type: 'string', secret: true, default: 'canary-secret' } }),
      auth: { type: 'secret', value: ({ KEY }) => { throw new Error('no ' + KEY) } }`,
    "auth: { type: 'exchange', audience: 'crm' }"
  ]) {
    const catalog = await writeCatalog(t, {
      'tools/a.ts': `${crmModule('https://crm.example.com/', definition)}
        import { defineTool } from 'trivet'
        export default defineTool({ name: 'a', run: () => 'x' })`
    })
    const error: Error = await createService({ ...QUIET, catalog }).then(
      async ({ app }) => {
        await app.close()
        return new Error('it loads')
      }, (reason: Error) => reason
    )
    t.match(error.message, /tools\/a\.ts: crm\.auth(?:\.value)?: /)
    t.notMatch(error.message, /canary/)
  }
})
