// Measures each request: how long it took, and how it ended.
// https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Ending, Observed } from '../../request/pipeline/observer.ts'

/** In seconds. The convention begins at 0.01, but most calls take less. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** The methods whose primitives have a label. A resource has none: a catalog may have a million URIs. */
const NAME_LABELS = new Map([['tools/call', 'gen_ai_tool_name'], ['prompts/get', 'gen_ai_prompt_name']])

/** Its requests last as long as their clients listen, and cost almost nothing. */
const LISTEN = 'subscriptions/listen'

/** The most names of one method. A series takes about 2 kB, and a name has one for each kind of outcome. */
const MAX_NAMES = 200

/** Stands for names above the limit, and for methods that the service does not have. */
const OTHER = 'other'

/** The answers that are no result: the work goes on, or waits for answers. */
const TOLD: ReadonlySet<string> = new Set(['task', 'goes_on', 'relayed', 'input_required'])

interface Series { observe (seconds: number): void }

/** The series of one name, by the type of the error. An empty type is success. */
type SeriesByOutcome = Map<string, Series>

export function createRequestMetrics (registry: Registry) {
  const registers = [registry]
  const durations = new Histogram({
    name: 'mcp_server_operation_duration_seconds',
    help: 'Time from reading a request to its answer. error_type is absent for success.',
    labelNames: ['mcp_method_name', 'error_type', ...NAME_LABELS.values()],
    buckets: BUCKETS,
    registers
  })
  const refusals = new Counter({
    name: 'trivet_http_refusals_total',
    help: 'HTTP requests that were refused before a method was called.',
    labelNames: ['http_response_status_code'],
    registers
  })
  const answers = new Counter({
    name: 'trivet_call_answers_total',
    help: 'Answers to calls of tools: the result, a task, or what the client or its model must do next.',
    labelNames: ['answer'],
    registers
  })
  const repairs = new Counter({
    name: 'trivet_repaired_calls_total',
    help: 'Calls of tools whose arguments matched only once they were repaired.',
    registers
  })
  const active = new Set<Observed>()
  const activeGauge: Gauge = new Gauge({
    name: 'trivet_active_requests',
    help: 'Requests without a complete answer, including open streams of subscriptions/listen.',
    registers,
    collect: () => activeGauge.set(active.size)
  })
  const runningGauge: Gauge = new Gauge({
    name: 'trivet_running_requests',
    help: 'Requests without a complete answer, without open streams of subscriptions/listen.',
    registers,
    // Counted when it is read: the method is not known yet when a request begins.
    collect: () => runningGauge.set([...active].filter(({ method }) => method !== LISTEN).length)
  })
  const methods = new Map<string, Map<string, SeriesByOutcome>>()

  function findSeries ({ method = OTHER, subject }: Observed, errorType: string): Series {
    const names = methods.get(method) ?? addTo(methods, method, new Map<string, SeriesByOutcome>())
    const label = NAME_LABELS.get(method)
    const name = label === undefined || subject === undefined ? '' : subject
    const hasRoom = names.has(name) || name === '' || names.size < MAX_NAMES
    const value = hasRoom ? name : OTHER
    const outcomes = names.get(value) ?? addTo(names, value, new Map<string, Series>())
    return outcomes.get(errorType) ?? addTo(outcomes, errorType, durations.labels({
      mcp_method_name: method,
      ...(errorType !== '' && { error_type: errorType }),
      ...(label !== undefined && value !== '' && { [label]: value })
    }))
  }

  return {
    begin (observed: Observed) { active.add(observed) },
    end (observed: Observed, ending: Ending) {
      if (observed.refused !== undefined) refusals.inc({ http_response_status_code: ending.status ?? OTHER })
      if (!observed.isBegun) return
      active.delete(observed)
      if (observed.isRepaired === true) repairs.inc()
      const answer = toAnswer(observed, ending)
      if (answer !== undefined) answers.inc({ answer })
      findSeries(observed, toErrorType(observed, ending)).observe(ending.durationMs / 1000)
    }
  }
}

/** Returns `undefined` for what is no answer to a call, such as the work that goes on after one. */
function toAnswer ({ method, special }: Observed, { status, protocolError }: Ending): string | undefined {
  if (method !== 'tools/call' || status === undefined || protocolError !== undefined) return undefined
  return special === undefined || !TOLD.has(special) ? 'result' : special
}

function toErrorType ({ isToolError }: Observed, { isCancelled, protocolError }: Ending): string {
  if (isCancelled) return 'cancelled'
  if (protocolError !== undefined) return String(protocolError.code)
  return isToolError ? 'tool_error' : ''
}

function addTo<K, V> (map: Map<K, V>, key: K, value: V): V {
  map.set(key, value)
  return value
}
