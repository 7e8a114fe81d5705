// The dashboard and the alerts in deploy/, against the metrics of the built service.

import { spawnSync } from 'node:child_process'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { adminOriginOf, linesOf } from '../helpers/admin.ts'
import { toolModule, writeCatalog } from '../helpers/catalog-folder.ts'
import { until } from '../helpers/deadline.ts'
import { makeFolder } from '../helpers/folder.ts'
import { hasPrograms } from '../servers/programs.ts'
import { startService } from '../helpers/service.ts'
import { post } from '../helpers/stream.ts'

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string }
}

interface Panel {
  readonly id: number
  readonly title: string
  readonly targets: ReadonlyArray<{ readonly expr: string }>
}

const pathOf = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const ALERTS = 'deploy/prometheus/alerts.yaml'
const alerts: readonly Alert[] = parse(await readFile(pathOf(ALERTS), 'utf8')).groups[0].rules
const dashboard = JSON.parse(await readFile(pathOf('deploy/grafana/dashboard.json'), 'utf8'))
const panels: readonly Panel[] = dashboard.panels

/** Every string in a value, at any depth. */
function stringsIn (value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

/** The text of /metrics after a call of each kind. */
async function readMetrics (): Promise<string> {
  const catalog = await writeCatalog(t, {
    'tools/a.ts': toolModule('a', '', "() => 'b\"\\\\c'"),
    'tools/fails.ts': toolModule('fails', '', "() => { throw new Error('broken') }"),
    'prompts/p.md': 'Say it.\n',
    'resources/a.txt': 'a'
  })
  const service = await startService(t, { TRIVET_CATALOG: catalog, TRIVET_ADMIN_PORT: '0' })
  const admin = await adminOriginOf(service)
  for (const name of ['a', 'fails', 'none']) {
    await post(t, service.url, { method: 'tools/call', params: { name } })
  }
  await post(t, service.url, { method: 'prompts/get', params: { name: 'p' } })
  await post(t, service.url, { method: 'server/discover' })
  await fetch(new URL('/nothing', service.url))
  return await (await fetch(`${admin}/metrics`)).text()
}

const text = await readMetrics()

t.test('every metric and label of the dashboard and the alerts exists', async (t) => {
  const metrics = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].flatMap(
    ([, name = '', type]) => {
      return type === 'histogram' ? ['_bucket', '_count', '_sum'].map((part) => name + part) : [name]
    }
  )
  const labels = [...text.matchAll(/[{,](\w+)="/g)].map(([, name = '']) => name)
  const known = new Set([...metrics, ...labels])
  const used = [...stringsIn(dashboard), ...stringsIn(alerts)].flatMap(
    (one) => one.match(/\b(?:trivet|mcp|nodejs|process|gen_ai|error|http|catalog)_\w+/g) ?? []
  )
  t.ok(used.length > 30)
  t.strictSame([...new Set(used)].filter((name) => !known.has(name)), [])
})

t.test('the alert of a lost store fires although nobody asks for readiness', async (t) => {
  const [catalog, state] = [await writeCatalog(t, {}), await makeFolder(t)]
  const service = await startService(t, {
    TRIVET_CATALOG: catalog, TRIVET_ADMIN_PORT: '0', TRIVET_STATE_URL: `file:${state}`
  })
  const admin = await adminOriginOf(service)
  const readReady = async () => linesOf(await (await fetch(`${admin}/metrics`)).text(), 'trivet_state_store_ready')
  t.strictSame(await readReady(), ['trivet_state_store_ready 1'])
  await rm(state, { recursive: true })
  await until(async () => (await readReady())[0] === 'trivet_state_store_ready 0', 'the loss')
  t.ok(alerts.some(({ expr }) => expr === 'trivet_state_store_ready == 0'))
})

t.test('every alert says how long, how bad and what to do', async (t) => {
  for (const { alert, for: lasting, labels, annotations: { summary } } of alerts) {
    t.match(lasting, /^\d+m$/, alert)
    t.match(labels.severity, /^(?:critical|warning)$/, alert)
    t.match(summary, /: .+\.$/, alert)
    t.notMatch(summary, '\n', alert)
  }
})

t.test('the dashboard has an id and a query for each panel', async (t) => {
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  for (const { title, targets } of panels) t.ok(targets.every(({ expr }) => expr.includes('$job')), title)
})

t.test('promtool', async (t) => {
  if (!hasPrograms(t, ['promtool'], 'prometheus')) return
  const run = (args: readonly string[], input = '') => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
    t.equal(status, 0, `${args.join(' ')}\n${stdout}${stderr}`)
  }
  run(['check', 'metrics'], text)
  run(['check', 'rules', pathOf(ALERTS)])
  run(['test', 'rules', pathOf('test/deploy/alerts.test.yaml')])
  // Each query as a rule: Grafana's variables are no PromQL.
  const rules = panels.flatMap(({ targets }) => targets).map(({ expr }, index) => {
    return { record: `query_${index}`, expr: expr.replaceAll('$__rate_interval', '5m') }
  })
  const queries = join(await makeFolder(t), 'queries.yaml')
  await writeFile(queries, stringify({ groups: [{ name: 'dashboard', rules }] }))
  run(['check', 'rules', queries])
})
