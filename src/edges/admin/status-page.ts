// The page of the admin address: what its health, its metrics and its tasks say, for people.

import { counted } from '../../base/words.ts'
import type { HealthReport, ServicePart } from '../http/readiness.ts'
import { sumOf, type Sample } from './metric-samples.ts'
import { html, toPage, type HtmlValue } from '../http/pages/page.ts'
import {
  toHint, toNumber, toOperations, toProcess, toRequests, toTable, type Symptom
} from './status-tables.ts'

/** A task, as the list of tasks has it. */
export interface ListedTask { readonly [member: string]: unknown }

export interface StatusFacts {
  readonly readAtMs: number
  readonly report: HealthReport
  readonly samples: readonly Sample[]
  /** Whether the service has metrics. */
  readonly isMeasured: boolean
  /** Why metrics or tasks cannot be read. */
  readonly problems: readonly string[]
  /** Due tasks that no replica runs. `undefined` if the reader may not see tasks. */
  readonly stuckTasks: readonly ListedTask[] | undefined
  readonly isTraced: boolean
  readonly refreshSeconds: number | undefined
}

const DATE_LENGTH = 'yyyy-mm-ddThh:mm:ss'.length

export function toStatusPage (facts: StatusFacts): string {
  const { report, samples, isMeasured, isTraced, refreshSeconds } = facts
  const heading = report.ready ? html`<h1 class="good">Ready</h1>` : html`<h1 class="bad">Not ready</h1>`
  return toPage({
    title: `Trivet: ${report.ready ? 'ready' : 'not ready'}`,
    isWide: true,
    refresh: refreshSeconds === undefined ? undefined : { seconds: refreshSeconds },
    body: html`${heading}
${introduce(facts)}
<h2>Problems now</h2>
${toProblems(facts)}
${toParts(report.parts)}
${isMeasured ? html`${toRequests(samples)}\n${toOperations(samples)}\n` : html``}${toTasks(facts)}
${isMeasured ? html`${toProcess(samples)}\n` : html``}<h2>Traces</h2>
<p>${isTraced ? TRACED : NOT_TRACED}</p>
<h2>The same for programs</h2>
<p><a href="/readyz">/readyz</a>, ${isMeasured ? METRICS : html``}<a href="/tasks">/tasks</a></p>`
  })
}

const METRICS = html`<a href="/metrics">/metrics</a>, `
const TRACED = 'Requests are traced. To find one, search for its id in the program that shows your traces. ' +
  'Lines of the log and tasks have it as traceId.'
const NOT_TRACED = 'Requests are not traced. TRIVET_OTLP_URL sends traces to a collector.'

function introduce ({ readAtMs, samples, refreshSeconds }: StatusFacts): HtmlValue {
  const { version, node } = samples.find(({ name }) => name === 'trivet_build_info')?.labels ?? {}
  const build = version === undefined ? '' : `Trivet ${version} on Node ${node}. `
  const ready = sumOf(samples, 'trivet_workers_ready')
  const workers = ready === undefined ? '' : `The numbers are those of all ${counted(ready, 'worker')}. `
  const refresh = refreshSeconds === undefined
    ? html`<a href="/">Reload every 10 seconds</a>`
    : html`Reloads every ${refreshSeconds} seconds: <a href="/?refresh=off">stop that</a>`
  return html`<p class="faint">${build}${workers}Read at ${toTime(readAtMs)}. ${refresh}</p>`
}

const toTime = (ms: number) => `${new Date(ms).toISOString().slice(0, DATE_LENGTH).replace('T', ' ')} UTC`

function toProblems ({ report, samples, problems }: StatusFacts): HtmlValue {
  const stuck = sumOf(samples, 'trivet_tasks_stuck') ?? 0
  const items = [
    ...report.parts.filter(({ ready }) => !ready).map((part) => toProblem(
      `${nameOf(part)} is not ready${part.reason === undefined ? '' : `: ${part.reason}`}`, 'unready'
    )),
    ...report.parts.flatMap((part) => isObject(part.lastReload)
      ? [toProblem(`${nameOf(part)}: the last reload failed. ${describeReload(part.lastReload)}`, 'reload')]
      : []),
    ...sumOf(samples, 'trivet_broadcast_ready') === 0
      ? [toProblem('Changes and messages do not pass between the replicas', 'unready')]
      : [],
    ...stuck > 0
      ? [toProblem(`${counted(stuck, 'task')} of all replicas ${stuck === 1 ? 'is' : 'are'} stuck`, 'tasks')]
      : [],
    ...problems.map((problem) => html`<li>${problem}</li>`)
  ]
  return items.length === 0 ? html`<p>None.</p>` : html`<ul>${items}</ul>`
}

function toProblem (text: string, symptom: Symptom): HtmlValue {
  return html`<li class="bad">${text}. ${toHint(symptom)}</li>`
}

const nameOf = ({ name, worker }: ServicePart) => worker === undefined ? name : `${name} of worker ${worker}`

function describeReload ({ failedAt, file, place, rule }: { readonly [member: string]: unknown }): string {
  const at = `It was tried at ${String(failedAt)}, and the log has every problem`
  if (file === undefined) return at
  return `${[file, place, rule].filter((part) => part !== '' && part !== undefined).join(': ')}. ${at}`
}

const isObject = (value: unknown): value is { readonly [member: string]: unknown } =>
  typeof value === 'object' && value !== null

function toParts (parts: readonly ServicePart[]): HtmlValue {
  const rows = parts.map((part) => {
    const { name: _name, ready, reason, worker: _worker, lastReload: _lastReload, ...details } = part
    const facts = Object.entries(details).map(([name, value]) => `${name} ${toText(value)}`)
    return [nameOf(part), ready ? 'ready' : 'not ready', [reason, ...facts].filter(Boolean).join(', ')]
  })
  return html`<h2>Parts</h2>\n${toTable(['Part', 'State', 'More'], rows)}`
}

const toText = (value: unknown) => typeof value === 'string' ? value : JSON.stringify(value)

/** Why a task was left, or why nobody looks after it. */
const LEFT: { readonly [reason: string]: string } = {
  sealed: 'TRIVET_SECRETS lacks the secret that sealed it',
  newer: 'a newer release wrote its record',
  changed: 'its tool has changed here, and has onDeploy: fail',
  unknown: 'this catalog lacks its tool, or the tool refuses its arguments'
}

function toTasks ({ samples, stuckTasks }: StatusFacts): HtmlValue {
  const stuckBy = (reason: string) => sumOf(
    samples.filter(({ labels }) => labels.reason === reason), 'trivet_tasks_stuck'
  )
  const counts = [
    ['Running here', toNumber(sumOf(samples, 'trivet_tasks_running'))],
    ['Stuck: no replica has looked for two leases', toNumber(stuckBy('overdue'))],
    ['Stuck: every replica that looked has left it', toNumber(stuckBy('left'))]
  ]
  return html`<h2>Tasks</h2>
${toTable(['What', 'How many'], counts)}
${stuckTasks === undefined
    ? html`<p class="faint">Tasks are listed with TRIVET_ADMIN_TOKEN: <code>npx trivet tasks list</code>.</p>`
    : stuckTasks.length === 0
      ? html``
      : toTable(['Stuck task', 'Tool', 'Why', 'Trace'], stuckTasks.map(toStuckRow))}
<p>${toHint('tasks')}</p>`
}

function toStuckRow ({ taskId, tool, left, isOverdue, dueAt, traceId }: ListedTask): readonly string[] {
  const why = typeof left === 'string' ? LEFT[left] ?? left : undefined
  const overdue = isOverdue === true ? `no replica has looked since ${String(dueAt)}` : undefined
  const reasons = [why, overdue].filter((reason) => reason !== undefined).join('; ')
  return [String(taskId), String(tool ?? 'not known'), reasons, String(traceId ?? '')]
}
