// What the page of the admin address makes of health, metrics and tasks.

import { readFile } from 'node:fs/promises'
import t from 'tap'
import { readOperations, readSamples, sumOf } from '../../../src/edges/admin/metric-samples.ts'
import { readStatus } from '../../../src/edges/admin/status-facts.ts'
import { toStatusPage, type StatusFacts } from '../../../src/edges/admin/status-page.ts'
import { SYMPTOMS } from '../../../src/edges/admin/status-tables.ts'

const FACTS: StatusFacts = {
  readAtMs: 0,
  report: { ready: true, parts: [{ name: 'state store', ready: true }] },
  samples: [],
  isMeasured: true,
  problems: [],
  stuckTasks: [],
  isTraced: false,
  refreshSeconds: undefined
}

/** The text of a page, one line for each row or paragraph. */
const textOf = (page: string) => page.replace(/<(?:td|th)\b[^>]*>/g, ' ')
  .replace(/<(?!\/(?:tr|p|li|h\d))[^>]+>/g, '').replace(/<[^>]+>/g, '\n')

const HOSTILE = '"</td><script>alert(1)</script>&\''

t.test('escapes every value', (t) => {
  const page = toStatusPage({
    ...FACTS,
    report: {
      ready: false,
      parts: [
        { name: HOSTILE, ready: false, reason: HOSTILE, worker: HOSTILE, more: { deep: HOSTILE } },
        { name: 'catalog', ready: true, lastReload: { failedAt: HOSTILE, file: HOSTILE, rule: HOSTILE } }
      ]
    },
    samples: [
      { name: 'trivet_build_info', labels: { version: HOSTILE, node: HOSTILE }, value: 1 },
      { name: 'trivet_limit_hits_total', labels: { limit: HOSTILE }, value: 1 },
      {
        name: 'mcp_server_operation_duration_seconds_count',
        labels: { mcp_method_name: 'tools/call', gen_ai_tool_name: HOSTILE, error_type: HOSTILE },
        value: 1
      }
    ],
    problems: [HOSTILE],
    stuckTasks: [
      { taskId: HOSTILE, tool: HOSTILE, left: HOSTILE, isOverdue: true, dueAt: HOSTILE, traceId: HOSTILE }
    ]
  })
  t.notMatch(page, '<script')
  t.ok((page.match(/&lt;script&gt;/g)?.length ?? 0) > 15, 'and shows them')
  t.end()
})

t.test('names each problem, and the help for it', (t) => {
  const page = textOf(toStatusPage({
    ...FACTS,
    report: {
      ready: false,
      parts: [
        { name: 'state store', ready: false, reason: 'no answer', worker: 2 },
        {
          name: 'catalog',
          ready: true,
          version: 'abc',
          lastReload: { failedAt: '2026-01-01', file: 'tools/a.ts', place: 'line 3', rule: 'is empty' }
        }
      ]
    },
    samples: readSamples('trivet_broadcast_ready 0\ntrivet_tasks_stuck{reason="left"} 2\n'),
    stuckTasks: [
      { taskId: 'one', tool: 'ship', left: 'sealed', isOverdue: false, traceId: '0af7' },
      { taskId: 'two', tool: 'ship', left: undefined, isOverdue: true, dueAt: '2026-01-01T00:00:00.000Z' }
    ]
  }))
  for (const text of [
    'Not ready', 'state store of worker 2 is not ready: no answer', 'docs/troubleshooting.md',
    'the last reload failed. tools/a.ts: line 3: is empty', 'version abc',
    'Changes and messages do not pass between the replicas', '2 tasks of all replicas are stuck',
    'one ship TRIVET_SECRETS lacks the secret that sealed it 0af7',
    'two ship no replica has looked since 2026-01-01T00:00:00.000Z'
  ]) t.match(page, text)
  t.end()
})

t.test('names headings that the page of help has', async (t) => {
  const file = new URL('../../../docs/troubleshooting.md', import.meta.url)
  const text = await readFile(file, 'utf8').catch(() => undefined)
  if (text === undefined) {
    t.comment('docs/troubleshooting.md is not there')
    return
  }
  const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
  t.strictSame(Object.values(SYMPTOMS).filter((heading) => !headings.includes(heading)), [])
})

t.test('says how to find a trace, if there are any', (t) => {
  t.match(toStatusPage({ ...FACTS, isTraced: true }), 'have it as traceId')
  t.match(toStatusPage(FACTS), 'Requests are not traced.')
  t.end()
})

t.test('reads labels with quotes, and adds samples up', (t) => {
  const samples = readSamples('# TYPE a counter\na{b="1",c="x\\"\\\\\\n,}"} 2\na 3e2\nb +Inf\n\n')
  t.strictSame(samples, [
    { name: 'a', labels: { b: '1', c: 'x"\\\n,}' }, value: 2 }, { name: 'a', labels: {}, value: 300 },
    { name: 'b', labels: {}, value: Infinity }
  ])
  t.equal(sumOf(samples, 'a'), 302)
  t.equal(sumOf(samples, 'c'), undefined)
  t.end()
})

t.test('finds the calls, the errors and the times of each tool', (t) => {
  const metric = 'mcp_server_operation_duration_seconds'
  const lines = (type: string, counts: readonly number[]) => {
    const labels = `mcp_method_name="tools/call",gen_ai_tool_name="a"${type}`
    const [first, second, third] = counts
    return [
      `${metric}_bucket{le="0.1",${labels}} ${first}`, `${metric}_bucket{le="1",${labels}} ${second}`,
      `${metric}_bucket{le="+Inf",${labels}} ${third}`, `${metric}_count{${labels}} ${third}`
    ].join('\n')
  }
  const text = `${lines('', [8, 9, 10])}\n${lines(',error_type="tool_error"', [4, 10, 10])}\n`
  t.strictSame(readOperations(readSamples(text)), [
    {
      method: 'tools/call',
      subject: 'a',
      calls: 20,
      errors: new Map([['tool_error', 10]]),
      halfWithin: 0.1,
      mostWithin: 1
    }
  ])
  t.end()
})

t.test('a part that cannot be read is a problem of the page', async (t) => {
  const refuse = (reason: string) => async () => await Promise.reject(new Error(reason))
  const sources = {
    health: refuse('no health'),
    metrics: { text: async () => 'trivet_tasks_stuck{reason="left"} 1\n' },
    tasks: { list: refuse('no store') },
    isTraced: false
  }
  const reader = { mayList: true, refreshSeconds: undefined }
  t.match(await readStatus(sources, reader), {
    report: { ready: false },
    problems: ['The health cannot be read: no health', 'Tasks cannot be read: no store']
  })
  t.match(await readStatus({ ...sources, metrics: { text: refuse('no parent') } }, reader), {
    problems: ['The health cannot be read: no health', 'Metrics cannot be read: no parent'], stuckTasks: []
  })
  t.equal((await readStatus(sources, { ...reader, mayList: false })).stuckTasks, undefined)
})
