// The metrics of requests: their labels, their bounds and their cost.

import { Registry } from 'prom-client'
import t from 'tap'
import { createRequestMetrics } from '../../../src/features/metrics/request-metrics.ts'
import { buildMetered, linesOf } from '../../helpers/admin.ts'
import { toolModule } from '../../helpers/catalog-folder.ts'
import { send, type RequestParts } from '../../helpers/request.ts'

const COUNT = 'mcp_server_operation_duration_seconds_count'

const call = (name: string, args: object = {}): RequestParts =>
  ({ method: 'tools/call', params: { name, arguments: args } })

const OBSERVED = {
  requestId: '1', principal: undefined, revision: '2026-07-28', isBegun: true, isToolError: false
}
const ENDED = { durationMs: 1, status: 200, protocolError: undefined, error: undefined, isCancelled: false }

t.test('counts how calls were answered, and not the work that goes on', async (t) => {
  const { app, readMetrics } = await buildMetered(t, {
    'tools/sleeps.ts': toolModule('sleeps', "task: 'allowed'", 'async (_, ctx) => ctx.sleep(60_000)'),
    'tools/asks.ts': `import { elicit } from 'trivet'\n${toolModule(
      'asks', "task: 'allowed'", `async (_, ctx) => ctx.ask({
        go: elicit.url({ message: 'x', url: 'https://a.example' }) })`
    )}`
  }, { taskWaitMs: 2000 })
  const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
  const tasks = { 'io.modelcontextprotocol/clientCapabilities': capabilities }
  for (const name of ['sleeps', 'asks']) await send(app, call(name))
  await send(app, { ...call('sleeps'), meta: tasks })
  t.strictSame(linesOf(await readMetrics(), 'trivet_call_answers_total').toSorted(), [
    'trivet_call_answers_total{answer="goes_on"} 1',
    'trivet_call_answers_total{answer="relayed"} 1',
    'trivet_call_answers_total{answer="task"} 1'
  ])
})

t.test('counts by method, name and outcome, and never by the client\'s text', async (t) => {
  const { app, readMetrics } = await buildMetered(t, {
    'tools/echo.ts': toolModule('echo'),
    'tools/refuses.ts': toolModule('refuses', '', "() => { throw new ToolError('no') }"),
    'tools/returns.ts': toolModule('returns', '', '() => ({ content: [], isError: true })'),
    'tools/states.ts': toolModule('states', '', '() => toolResult({ content: [], isError: true })'),
    'tools/data.ts': toolModule(
      'data', "outputSchema: { type: 'object' }", '() => ({ content: [], isError: true })'
    ),
    'tools/fails.ts': toolModule('fails', '', "() => { throw new Error('broken') }"),
    'prompts/p.md': 'Say it.\n',
    'resources/a.txt': 'a'
  })
  const requests = [
    call('echo'), call('echo'), call('echo', { unknown: 1 }), call('refuses'), call('returns'),
    call('states'), call('data'), call('fails'), call('marker4711'), { method: 'marker4711' },
    { method: 'prompts/get', params: { name: 'p' } },
    { method: 'resources/read', params: { uri: 'file:///a.txt' } },
    { method: 'tools/list', params: { cursor: 'marker4711' } }
  ]
  for (const request of requests) await send(app, request)
  await app.inject({ method: 'GET', url: '/marker4711' })
  const text = await readMetrics()
  t.strictSame(linesOf(text, COUNT).map((line) => line.slice(COUNT.length)).toSorted(), [
    '{mcp_method_name="other",error_type="-32601"} 1',
    '{mcp_method_name="prompts/get",gen_ai_prompt_name="p"} 1',
    '{mcp_method_name="resources/read"} 1',
    '{mcp_method_name="tools/call",error_type="-32602"} 1',
    '{mcp_method_name="tools/call",error_type="-32603",gen_ai_tool_name="fails"} 1',
    '{mcp_method_name="tools/call",error_type="tool_error",gen_ai_tool_name="data"} 1',
    '{mcp_method_name="tools/call",error_type="tool_error",gen_ai_tool_name="echo"} 1',
    '{mcp_method_name="tools/call",error_type="tool_error",gen_ai_tool_name="refuses"} 1',
    '{mcp_method_name="tools/call",error_type="tool_error",gen_ai_tool_name="returns"} 1',
    '{mcp_method_name="tools/call",error_type="tool_error",gen_ai_tool_name="states"} 1',
    '{mcp_method_name="tools/call",gen_ai_tool_name="echo"} 2',
    '{mcp_method_name="tools/list",error_type="-32602"} 1'
  ])
  t.strictSame(linesOf(text, 'trivet_http_refusals_total'), [
    'trivet_http_refusals_total{http_response_status_code="404"} 1'
  ])
  t.strictSame(linesOf(text, 'trivet_call_answers_total'), ['trivet_call_answers_total{answer="result"} 7'])
  t.strictSame(linesOf(text, 'trivet_active_requests'), ['trivet_active_requests 0'])
  t.notMatch(text, 'marker4711')
})

t.test('counts requests in flight, and cancelled ones', async (t) => {
  const registry = new Registry()
  const { begin, end } = createRequestMetrics(registry)
  const observed = { ...OBSERVED, method: 'tools/call', subject: 'a' }
  begin(observed)
  begin({ ...observed })
  begin({ ...observed, method: 'subscriptions/listen' })
  end(observed, { ...ENDED, isCancelled: true })
  end({ ...observed, isBegun: false }, ENDED)
  const text = await registry.metrics()
  t.strictSame(linesOf(text, 'trivet_active_requests'), ['trivet_active_requests 2'])
  t.strictSame(linesOf(text, 'trivet_running_requests'), ['trivet_running_requests 1'])
  t.strictSame(linesOf(text, COUNT), [
    `${COUNT}{mcp_method_name="tools/call",error_type="cancelled",gen_ai_tool_name="a"} 1`
  ])
})

t.test('gives 200 names a label, and the rest one together', async (t) => {
  const registry = new Registry()
  const { begin, end } = createRequestMetrics(registry)
  for (const round of [1, 2]) {
    for (let i = 0; i < 5000; i++) {
      const observed = { ...OBSERVED, method: 'tools/call', subject: `tool_${i}` }
      begin(observed)
      end(observed, { ...ENDED, durationMs: round })
    }
  }
  const lines = linesOf(await registry.metrics(), COUNT)
  t.equal(lines.length, 201)
  t.match(lines.at(-1), /gen_ai_tool_name="other"\} 9600$/)
  t.match(lines[0], /gen_ai_tool_name="tool_0"\} 2$/)
})

// A call takes 40 to 100 microseconds of CPU time, so this is 5 % at most.
t.test('takes a few microseconds of CPU time for a request', async (t) => {
  const { begin, end } = createRequestMetrics(new Registry())
  const all = Array.from({ length: 100 }, (_, i) => {
    return { ...OBSERVED, method: 'tools/call', subject: `tool_${i}` }
  })
  const measure = () => {
    const start = process.cpuUsage()
    for (let lap = 0; lap < 500; lap++) {
      for (const observed of all) {
        begin(observed)
        end(observed, ENDED)
      }
    }
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 50_000
  }
  const best = Math.min(...Array.from({ length: 10 }, measure))
  t.comment(`${best.toFixed(2)} microseconds`)
  t.ok(best < 5, String(best))
})

t.test('counts calls whose arguments were repaired, and matched then', async (t) => {
  const schema = "inputSchema: { type: 'object', properties: { n: { type: 'integer' } } }"
  const { app, readMetrics } = await buildMetered(t, { 'tools/a.ts': toolModule('a', schema) })
  for (const n of ['5', 5, '5.5', 'x']) await send(app, call('a', { n }))
  t.strictSame(linesOf(await readMetrics(), 'trivet_repaired_calls_total'), ['trivet_repaired_calls_total 1'])
})
