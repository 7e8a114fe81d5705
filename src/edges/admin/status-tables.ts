// The tables of numbers on the page of the admin address.

import { describeBytes } from '../../base/words.ts'
import { readOperations, sumOf, type MeasuredCalls, type Sample } from './metric-samples.ts'
import { html, type HtmlValue } from '../http/pages/page.ts'

/** The headings of docs/troubleshooting.md, by what they help with. */
export const SYMPTOMS = {
  unready: 'The log: state and replicas',
  reload: 'The log: catalog',
  errors: 'The log: calls',
  limits: 'Clients get no answer, or an error',
  tasks: 'The log: tasks'
} as const

export type Symptom = keyof typeof SYMPTOMS

/** Names the part of the documentation that helps. */
export function toHint (symptom: Symptom): HtmlValue {
  return html`<span class="faint">See “${SYMPTOMS[symptom]}” in docs/troubleshooting.md.</span>`
}

interface TableOptions {
  /** Whether no column but the first has long words. */
  readonly isOfNumbers?: boolean
}

export function toTable (
  columns: readonly string[], rows: ReadonlyArray<readonly string[]>,
  { isOfNumbers = false }: TableOptions = {}
): HtmlValue {
  const head = columns.map((column) => html`<th scope="col">${column}</th>`)
  const body = rows.map(([first, ...cells]) => (
    html`<tr><th scope="row">${toBreakable(first)}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`
  ))
  return html`<table${isOfNumbers ? html` class="numbers"` : html``}>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody>
</table>`
}

/** Lets a browser break a long name behind its underscores. */
function toBreakable (name = ''): HtmlValue {
  return name.split(/(?<=_)/).map((part, index) => index === 0 ? part : html`<wbr>${part}`)
}

export function toRequests (samples: readonly Sample[]): HtmlValue {
  const limit = sumOf(samples, 'trivet_requests_limit')
  const rows = [
    ['Requests now', `${toNumber(sumOf(samples, 'trivet_running_requests'))} of at most ${toNumber(limit)}`],
    ['Open streams now', toNumber(sumOf(samples, 'trivet_open_streams'))],
    ['Shed because of overload', toCounts(samples, 'trivet_shed_requests_total', ({ reason }) => reason)],
    ['Refused by a limit', toCounts(samples, 'trivet_limit_hits_total', describeLimit)],
    ['Refused before a method', toCounts(
      samples, 'trivet_http_refusals_total', ({ http_response_status_code: status }) => `HTTP ${status}`
    )]
  ]
  return html`<h2>Requests</h2>
<p class="faint">Refusals are counted since the start.</p>
${toTable(['What', 'How many'], rows)}
<p>${toHint('limits')}</p>`
}

export function toNumber (value: number | undefined): string {
  return value === undefined ? 'not known' : value.toLocaleString('en')
}

function describeLimit ({ limit, callers, tools }: Sample['labels']): string {
  const holder = callers === 'all' ? 'all callers' : 'one caller'
  return `${limit} of ${holder}${tools === 'one' ? ', for one tool' : ''}`
}

/** Writes the samples of a counter that are not zero. */
function toCounts (
  samples: readonly Sample[], metric: string, describe: (labels: Sample['labels']) => string | undefined
): string {
  const counts = samples.filter(({ name, value }) => name === metric && value > 0)
  if (counts.length === 0) return '0'
  return counts.map(({ labels, value }) => `${toNumber(value)} (${describe(labels)})`).join(', ')
}

export function toOperations (samples: readonly Sample[]): HtmlValue {
  const operations = readOperations(samples)
  const tools = operations.filter(({ method, subject }) => method === 'tools/call' && subject !== undefined)
  const methods = operations.filter((operation) => !tools.includes(operation))
  const toRows = (list: readonly MeasuredCalls[]) => list.map((operation) => {
    const { method, subject, calls, errors, halfWithin, mostWithin } = operation
    const name = method === 'tools/call' ? subject ?? UNKNOWN_TOOL : `${method} ${subject ?? ''}`
    return [name, toNumber(calls), toErrors(errors), toLimit(halfWithin), toLimit(mostWithin)]
  })
  const columns = ['Calls', 'Errors', 'Half within', '95 % within']
  return html`<h2>Tools</h2>
${tools.length === 0
    ? html`<p>No tool was called since the start.</p>`
    : html`<p class="faint">Since the start.</p>
${toTable(['Tool', ...columns], toRows(tools), { isOfNumbers: true })}
<p>${toHint('errors')}</p>`}
<h2>Other methods</h2>
${methods.length === 0
    ? html`<p>None was called since the start.</p>`
    : toTable(['Method', ...columns], toRows(methods), { isOfNumbers: true })}`
}

/** A call of a tool that the catalog does not have has no name in the metrics. */
const UNKNOWN_TOOL = 'tools/call, unknown tool'

function toErrors (errors: MeasuredCalls['errors']): string {
  const total = [...errors.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return '0'
  const kinds = [...errors].map(([type, count]) => {
    const name = /^-?\d+$/.test(type) ? `error ${type}` : type.replace('_', ' ')
    return `${toNumber(count)} ${name}`
  })
  return kinds.length === 1 ? kinds.join() : `${toNumber(total)}: ${kinds.join(', ')}`
}

function toLimit (seconds: number): string {
  if (seconds === Infinity) return 'more than 300 s'
  return seconds < 1 ? `${Number((seconds * 1000).toFixed(1))} ms` : `${seconds} s`
}

export function toProcess (samples: readonly Sample[]): HtmlValue {
  const bytes = (metric: string) => {
    const value = sumOf(samples, metric)
    return value === undefined ? 'not known' : describeBytes(value)
  }
  const delay = sumOf(samples, 'nodejs_eventloop_lag_p99_seconds')
  const ready = sumOf(samples, 'trivet_workers_ready')
  const rows = [
    ['Memory', bytes('process_resident_memory_bytes')],
    ['Heap in use', bytes('nodejs_heap_size_used_bytes')],
    ['Delay of the event loop, 99 %', delay === undefined ? 'not known' : `${Math.round(delay * 1000)} ms`],
    ...ready === undefined
      ? []
      : [
          ['Workers that serve', toNumber(ready)],
          ['Workers replaced', toNumber(sumOf(samples, 'trivet_workers_replaced_total'))]
        ]
  ]
  return html`<h2>Process</h2>
${toTable(['What', 'How much'], rows)}`
}
