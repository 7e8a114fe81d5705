// Reads metrics in the text format of Prometheus: workers add theirs up to such a text.
// https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format

export interface Sample {
  readonly name: string
  readonly labels: { readonly [label: string]: string }
  readonly value: number
}

const LINE = /^(\w+)(?:\{(.*)\})? (\S+)/
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** Comments and lines of another form are passed over. */
export function readSamples (text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? []
    if (name === undefined || value === undefined) return []
    const pairs = [...labels.matchAll(LABEL)].map(([, label = '', quoted = '']) => [label, unescape(quoted)])
    return [{ name, labels: Object.fromEntries(pairs), value: value === '+Inf' ? Infinity : Number(value) }]
  })
}

function unescape (quoted: string): string {
  return quoted.replaceAll(/\\(.)/g, (_, sign: string) => sign === 'n' ? '\n' : sign)
}

/** Returns the sum of all samples of a metric. `undefined` if there is none. */
export function sumOf (samples: readonly Sample[], metric: string): number | undefined {
  const values = samples.filter(({ name }) => name === metric).map(({ value }) => value)
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value)
}

/** How the requests of one primitive, or of one method, went. */
export interface MeasuredCalls {
  readonly method: string
  /** The tool or prompt. Absent for other methods. */
  readonly subject: string | undefined
  readonly calls: number
  /** How many failed, by the type of the error. */
  readonly errors: ReadonlyMap<string, number>
  /** The first limit in seconds within which half of the calls ended, and 95 % of them. */
  readonly halfWithin: number
  readonly mostWithin: number
}

const DURATION = 'mcp_server_operation_duration_seconds'

/** Returns the operations, those with the most calls first. */
export function readOperations (samples: readonly Sample[]): MeasuredCalls[] {
  const groups = new Map<string, Sample[]>()
  for (const sample of samples.filter(({ name }) => name.startsWith(DURATION))) {
    const { mcp_method_name: method = '', gen_ai_tool_name: tool, gen_ai_prompt_name: prompt } = sample.labels
    const key = JSON.stringify([method, tool ?? prompt])
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [sample])
    else group.push(sample)
  }
  return [...groups.values()].flatMap(toOperation).toSorted((a, b) => b.calls - a.calls)
}

function toOperation (samples: readonly Sample[]): MeasuredCalls[] {
  const [first] = samples
  if (first === undefined) return []
  const { mcp_method_name: method = '', gen_ai_tool_name: tool, gen_ai_prompt_name: prompt } = first.labels
  const counts = samples.filter(({ name }) => name === `${DURATION}_count`)
  const failed = counts.filter(({ labels: { error_type: type = '' } }) => type !== '')
  const errors = new Map<string, number>()
  for (const { labels: { error_type: type = '' }, value } of failed) {
    errors.set(type, (errors.get(type) ?? 0) + value)
  }
  const calls = counts.reduce((sum, { value }) => sum + value, 0)
  const within = (part: number) => findLimit(samples, calls * part)
  const subject = tool ?? prompt
  return [{ method, subject, calls, errors, halfWithin: within(0.5), mostWithin: within(0.95) }]
}

/** Returns the first limit in seconds within which so many calls ended. */
function findLimit (samples: readonly Sample[], minCount: number): number {
  const ended = new Map<number, number>()
  for (const { name, labels: { le = '' }, value } of samples) {
    const limit = le === '+Inf' ? Infinity : Number(le)
    if (name === `${DURATION}_bucket`) ended.set(limit, (ended.get(limit) ?? 0) + value)
  }
  const limits = [...ended].filter(([, count]) => count >= minCount).map(([limit]) => limit)
  return Math.min(Infinity, ...limits)
}
