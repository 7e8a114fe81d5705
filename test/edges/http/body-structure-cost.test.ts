// What a megabyte of many names, values or levels costs, compared with one long text in its place: the CPU
// time of the main thread, from the first byte to the answer.

import { Agent, request, type IncomingMessage } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { CONSTANTS } from '../../../src/ops/config/constants.ts'
import { toolModule, writeCatalog } from '../../helpers/catalog-folder.ts'
import { makeFolder } from '../../helpers/folder.ts'
import { toPost, type RequestParts, type ToSend } from '../../helpers/request.ts'
import { startService, type Service } from '../../helpers/service.ts'
import { HAS_THREAD_CPU, threadCpuOf } from '../../helpers/thread-cpu.ts'

/** Of each body, in bytes. */
const SIZE = 1_040_000
/** Stands for the value in a body. */
const PLACE = 'VALUE'
/** The average of the shapes of a place: other work of the machine changes it little. */
const MAX_AVERAGE = 4
/**
 * Of one shape. The costliest ones cost 4 times a long text, and 4.6 times beside other work. With ten times
 * the weight it would be 9 times.
 */
const MAX_RATIO = 6
/** Runs that cost less are not repeated. Of a call with a key the digest sorts the names of each object. */
const [USUAL_RATIO, OTHER_USUAL_RATIO] = [4, 5]
/** Of a long text in each place, and of a shape that seemed to cost too much, each beside a long text. */
const [TEXT_RUNS, PAIRS] = [8, 20]
/** Other work of the machine, and of the collector, makes some runs longer. */
const [QUICK_RUNS, PAUSE_MS] = [4, 50]
/** What is left beside the envelope. */
const WEIGHT = CONSTANTS.maxBodyWeight - 1000
const most = (weight: number) => Math.floor(WEIGHT / weight)
/** Texts under new names, and objects of one new name. */
const [MEMBERS, NAMES] = [most(23), most(21)]
const [TEXTS, OPENINGS] = [most(5), most(3)]

type Part = (index: number) => string

function join (count: number, part: Part): string {
  return Array.from({ length: count }, (_, index) => part(index)).join(',')
}

/** As many members as may be. */
const members = (count: number, part: Part) => `{${join(count, part)},"pad":"PAD"}`
const list = (count: number, part: Part) => `{"list":[${join(count, part)}],"pad":"PAD"}`
/** As many items as the size allows. */
const longList = (part: string) => `{"list":[${part},${`${part},`.repeat(SIZE / (part.length + 1) - 700)}0]}`

/** What is accepted, as much as may be. */
const ACCEPTED: { readonly [shape: string]: () => string } = {
  'new names': () => members(MEMBERS, (i) => `"k${i}":"x"`),
  'short names': () => members(MEMBERS, (i) => `"${i.toString(36)}z":"x"`),
  'long names': () => members(MEMBERS, (i) => `"${'k'.repeat(90)}${i}":"x"`),
  'names that are indexes': () => members(MEMBERS, (i) => `"${i}":"x"`),
  'names that are scattered indexes': () => members(MEMBERS, (i) => `"${i * 997 + 1_000_000}":"x"`),
  'escaped names': () => members(MEMBERS, (i) => `"\\u0000${i}":"x"`),
  'one name': () => members(MEMBERS, () => '"a":"x"'),
  'objects of new names': () => list(NAMES, (i) => `{"k${i}":1}`),
  'objects of new pairs': () => list(most(39), (i) => `{"a${i % 99}":1,"b${Math.floor(i / 99)}":1}`),
  'equal objects': () => list(most(4), () => '{"a":1}'),
  'empty objects': () => list(OPENINGS, () => '{}'),
  'empty arrays': () => list(OPENINGS, () => '[]'),
  'nested arrays': () => list(OPENINGS / 4, () => '[[[[]]]]'),
  'nested objects': () => list(most(11), () => '{"a":{"b":{}}}'),
  'short texts': () => list(TEXTS, (i) => `"${i}"`),
  numbers: () => longList('1.25'),
  points: () => list(OPENINGS, (i) => `[${i},${i % 10}]`),
  'rows of numbers': () => list(most(11), () => '{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8}'),
  'a table': () => list(most(17), (i) => `{"id":${i},"name":"name ${i}","city":"${i % 100}","on":true}`)
}

/** What is refused. */
const REFUSED: { readonly [shape: string]: () => string } = {
  'too many names': () => members(75_000, (i) => `"k${i}":1`),
  'too many objects of new names': () => list(70_000, (i) => `{"k${i}":1}`),
  'too many empty objects': () => list(330_000, () => '{}'),
  'too many arrays': () => list(100_000, () => '[[[[]]]]'),
  'too many texts': () => list(90_000, (i) => `"x${i}"`)
}

const SCHEMAS = {
  anything: "{ type: 'object' }",
  closed: "{ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }",
  texts: "{ type: 'object', additionalProperties: { type: 'string' } }",
  letters: "{ type: 'object', propertyNames: { pattern: '^[a-z]+$' } }"
}

const FILES = {
  ...Object.fromEntries(Object.entries(SCHEMAS).map(([name, schema]) => (
    [`tools/${name}.ts`, toolModule(name, `inputSchema: ${schema}`)]
  ))),
  'tools/audited.ts': toolModule('audited', `inputSchema: ${SCHEMAS.anything}, audit: 'values'`),
  'tools/repeats.ts': toolModule('repeats', `inputSchema: ${SCHEMAS.anything},
    annotations: { idempotentHint: true }, dedupe: true`),
  'tools/asks.ts': `import { defineTool, elicit } from 'trivet'
export default defineTool({
  name: 'asks', description: 'Asks.', inputSchema: { type: 'object' },
  run: async (_, ctx) => JSON.stringify(await ctx.ask({
    a: elicit.form({ message: 'Sure?', schema: { type: 'object', properties: {} } })
  }))
})`,
  'prompts/greeting.md': '---\ndescription: P.\narguments:\n  - name: who\n---\nHello {{who}}.\n',
  'resources/a.txt': 'a'
}

const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } }
const call = (name: string, more: object = {}): RequestParts => (
  { method: 'tools/call', params: { name, arguments: PLACE, ...more }, meta }
)
const answers = (inputResponses: unknown) => call('asks', { arguments: {}, inputResponses })
const ref = { type: 'ref/prompt', name: 'greeting' }
let count = 0

/** The places of a body where a client chooses the value. */
const PLACES: { readonly [place: string]: () => ToSend } = {
  'arguments of a tool': () => toPost(call('anything')),
  'audited arguments': () => toPost(call('audited')),
  'unknown arguments': () => toPost(call('closed')),
  'arguments that must be texts': () => toPost(call('texts')),
  'arguments whose names are checked': () => toPost(call('letters')),
  'arguments of a call with a key': () => (
    toPost({ ...call('repeats'), headers: { 'idempotency-key': `key ${count++}` } })
  ),
  'arguments of a call that asks': () => toPost(call('asks')),
  'answers to questions': () => toPost(answers(PLACE)),
  'the content of an answer': () => toPost(answers({ a: { action: 'accept', content: PLACE } })),
  'arguments of a prompt': () => (
    toPost({ method: 'prompts/get', params: { name: 'greeting', arguments: PLACE } })
  ),
  'arguments beside a completion': () => toPost({
    method: 'completion/complete',
    params: { ref, argument: { name: 'who', value: '' }, context: { arguments: PLACE } }
  }),
  '_meta of a read': () => (
    toPost({ method: 'resources/read', params: { uri: 'file:///a.txt' }, meta: { more: PLACE } })
  ),
  'params of a list': () => toPost({ method: 'tools/list', params: { more: PLACE } }),
  // A filter that is accepted would open a stream.
  'the filter of a stream': () => toPost({
    method: 'subscriptions/listen', params: { notifications: { more: PLACE, resourceSubscriptions: ['x'] } }
  }),
  'capabilities of a session': () => ({
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        clientInfo: { name: 'test', version: '1' },
        capabilities: { experimental: PLACE }
      }
    })
  })
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
t.teardown(() => agent.destroy())

async function post ({ url }: Service, { headers }: ToSend, body: Buffer): Promise<number | undefined> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const length = { 'content-length': body.length }
    request(url, { method: 'POST', agent, headers: { ...headers, ...length } }, resolve)
      .on('error', reject).end(body)
  })
  await answer.resume().toArray()
  return answer.statusCode
}

/** Puts the value into the body, and fills it up to the size. */
function toBody ({ body }: ToSend, value: string): Buffer {
  const whole = body.replace(JSON.stringify(PLACE), () => value)
  return Buffer.from(whole.replace('PAD', () => 'x'.repeat(Math.max(0, SIZE - whole.length))))
}

interface Cost { readonly status: number | undefined, readonly ms: number }
type Measure = (value: string) => Promise<Cost>

const LONG_TEXT = '{"pad":"PAD"}'

async function costOf (service: Service, place: () => ToSend, value: string): Promise<Cost> {
  const sent = place()
  const body = toBody(sent, value)
  const before = threadCpuOf(service.child)
  const status = await post(service, sent, body)
  await pause(2)
  return { status, ms: threadCpuOf(service.child) - before }
}

function median (numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

async function medianOf (measure: Measure, value: string): Promise<number> {
  const costs: number[] = []
  for (let run = 0; run < TEXT_RUNS; run++) costs.push((await measure(value)).ms)
  return median(costs)
}

/**
 * Returns how many times a value costs what a long text costs. One run of a usual cost is enough. Otherwise
 * both are measured in turns, because the machine may have become slower since, and the best run of each
 * counts.
 */
async function ratioOf (measure: Measure, value: string, textMs: number, usualRatio: number) {
  for (let run = 0; run < QUICK_RUNS; run++) {
    const { status, ms } = await measure(value)
    if (ms < usualRatio * textMs) return { status, ms, ratio: ms / textMs }
    await pause(PAUSE_MS)
  }
  const [costs, texts]: [Cost[], number[]] = [[], []]
  for (let pair = 0; pair < PAIRS; pair++) {
    texts.push((await measure(LONG_TEXT)).ms)
    costs.push(await measure(value))
    await pause(PAUSE_MS)
  }
  const ms = Math.min(...costs.map((cost) => cost.ms))
  return { status: costs[0]?.status, ms, ratio: ms / Math.min(...texts) }
}

const skip = HAS_THREAD_CPU ? false : 'the kernel does not tell the CPU time of a thread'

t.test(`bodies cost ${MAX_AVERAGE} times a long text at most, and none ${MAX_RATIO} times`, { skip }, async (t) => {
  const service = await startService(t, {
    TRIVET_CATALOG: await writeCatalog(t, FILES),
    TRIVET_AUDIT_FILE: `${await makeFolder(t)}/audit.jsonl`,
    TRIVET_LOG_LEVEL: 'error',
    TRIVET_OVERLOAD: 'off'
  })
  for (const [place, toSend] of Object.entries(PLACES)) {
    const measure: Measure = async (value) => await costOf(service, toSend, value)
    const textMs = await medianOf(measure, LONG_TEXT)
    const ratios: number[] = []
    for (const [shape, write] of [...Object.entries(ACCEPTED), ...Object.entries(REFUSED)]) {
      const isOther = shape === 'numbers' || place === 'arguments of a call with a key'
      const usualRatio = isOther ? OTHER_USUAL_RATIO : USUAL_RATIO
      const { status, ms, ratio } = await ratioOf(measure, write(), textMs, usualRatio)
      if (shape in ACCEPTED) ratios.push(ratio)
      t.comment(`| ${place} | ${shape} | ${status} | ${ms.toFixed(1)} | ${ratio.toFixed(1)} |`)
      t.ok(ratio < MAX_RATIO, `${place}, ${shape}: ${ratio.toFixed(1)}`)
      t.equal(status === 400, shape in REFUSED, `${place}, ${shape}: ${status}`)
    }
    const average = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length
    t.ok(average < MAX_AVERAGE, `${place}: ${average.toFixed(1)} on average`)
  }
})
