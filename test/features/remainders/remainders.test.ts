// What is kept of cut results, where the store is full, away or lost, or another release has written it.

import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createResultWriter } from '../../../src/catalog/compiled/results/result-json.ts'
import { textResult } from '../../../src/catalog/compiled/results/tool-result-json.ts'
import { writeJson } from '../../../src/catalog/compiled/results/large-json.ts'
import { createResultCutter } from '../../../src/features/remainders/remainders.ts'
import { NO_LIMITS } from '../../../src/platform/limits/call-limits.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import type { StateStore } from '../../../src/platform/store/records/state-store.ts'
import { ownerOf } from '../../../src/platform/access/principal.ts'
import { Lifetime } from '../../../src/request/pipeline/lifetime.ts'
import type { RequestContext } from '../../../src/request/pipeline/request-context.ts'
import type { ResultCutter } from '../../../src/request/pipeline/seams.ts'
import { FaultyStore } from '../../helpers/faulty-store.ts'
import type { Message } from '../../helpers/request.ts'
import { cursorOf } from './cut-results.ts'

const writer = createResultWriter({ name: 'test', version: '1' })
const principal = { subject: 'ann', scopes: new Set<string>() }
const OWNER = `remainders-${ownerOf(principal)}`
const MAX_BYTES = 100_000

function toRequest (address?: string) {
  const warnings: unknown[] = []
  const request = {
    writer,
    lifetime: new Lifetime(),
    caller: address === undefined
      ? { principal }
      : { principal: { subject: undefined, scopes: new Set() }, address },
    view: { hasTool: () => true },
    snapshot: { limits: NO_LIMITS },
    observed: {},
    log: { warn: (...args: unknown[]) => { warnings.push(args) } }
  }
  return { request: request as unknown as RequestContext, warnings }
}

function openStore (t: Test): StateStore {
  const store = createMemoryStateStore()
  t.teardown(async () => await store.close())
  return store
}

async function cut (cutter: ResultCutter, text: string, address?: string): Promise<Message> {
  const tool = { key: 'a', clientCheck: undefined, limits: { ...NO_LIMITS, cutBytes: MAX_BYTES } }
  const { request } = toRequest(address)
  return JSON.parse(await writeJson(await cutter.fit(request, tool, textResult(writer, text))))
}

async function readMore (cutter: ResultCutter, before: Message, address?: string): Promise<Message> {
  const { request } = toRequest(address)
  const result = await writeJson(await cutter.readMore(request, { cursor: cursorOf(before) }))
  t.ok(Buffer.byteLength(result) <= MAX_BYTES)
  return JSON.parse(result)
}

async function readAll (cutter: ResultCutter, first: Message): Promise<string> {
  let [part, text] = [first, first.content[0].text]
  while (cursorOf(part) !== undefined) {
    part = await readMore(cutter, part)
    text += part.content[0].text
  }
  return text
}

const lines = (count: number) => Array.from({ length: count }, (_, line) => `${line} "ü" 👩‍🚀\n`).join('')

async function bytesOf (store: StateStore): Promise<number> {
  const names = [...(await store.list(OWNER)).keys()]
  const records = await Promise.all(names.map(async (name) => await store.peek({ owner: OWNER, name })))
  return records.reduce((sum, record) => sum + (record?.value.bytes.length ?? 0), 0)
}

t.test('the oldest remainder gives way: of the caller, or of all', async (t) => {
  const store = openStore(t)
  const cutter = createResultCutter(store, { maxKeptBytes: 20_000_000 })
  const text = lines(60_000)
  t.ok(Buffer.byteLength(text) > 1_200_000)
  const other = await cut(cutter, text, '192.0.2.1')
  const calls: Message[] = []
  for (let index = 0; index < 20; index++) calls.push(await cut(cutter, text))
  await nextTurn()
  const bytes = await bytesOf(store)
  t.ok(bytes > 5_000_000 && bytes <= 10_000_000, `${bytes} bytes: a half at most, for each character two`)
  for (const [index, first] of calls.entries()) {
    if (index > 15) t.equal(await readAll(cutter, first), text)
    else if (index < 10) {
      await t.rejects(async () => await readAll(cutter, first), {
        message: /^There is no remainder .* given way to newer ones\. Call the tool again\.$/
      })
    }
  }
  t.ok(cursorOf(await readMore(cutter, other, '192.0.2.1')), 'not that of another caller')
  for (let index = 0; index < 10; index++) {
    t.ok(cursorOf(await cut(cutter, text, `192.0.2.${index}`)), 'each network has a share of its own')
  }
  await t.rejects(async () => await readAll(cutter, calls.at(-4)), /no remainder/, 'all together have a limit')
})

t.test('a part is no longer than a limit that has become lower since', async (t) => {
  const cutter = createResultCutter(openStore(t))
  const cursor = cursorOf(await cut(cutter, lines(20_000)))
  const { request } = toRequest()
  const limits = { ...NO_LIMITS, resultBytes: 5000 }
  const later = { ...request, snapshot: { limits } } as unknown as RequestContext
  const { length } = await writeJson(await cutter.readMore(later, { cursor }))
  t.ok(length <= 5000 && length > 2500, `${length} characters`)
})

t.test('few parts are read from the store at a time', async (t) => {
  let [running, most] = [0, 0]
  const store = openStore(t)
  const watched: StateStore = {
    ...store,
    async read (key) {
      most = Math.max(most, ++running)
      await pause(1)
      running--
      return await store.read(key)
    }
  }
  const cutter = createResultCutter(watched)
  const first = await cut(cutter, lines(20_000))
  await Promise.all(Array.from({ length: 100 }, async () => await readMore(cutter, first)))
  t.equal(most, 4)
})

t.test('the parts of a remainder, with the store failing at each write', async (t) => {
  const text = lines(40_000)
  for (const fault of ['refused', 'lost', 'killed-before', 'killed-after'] as const) {
    for (let at = 0; at < 4; at++) {
      const store = openStore(t)
      const replica = new FaultyStore(store, 0)
      replica.fail(at, fault)
      const answer = await Promise.race([
        cut(createResultCutter(replica.store), text), pause(100, undefined)
      ])
      const isKilled = fault.startsWith('killed')
      t.equal(answer === undefined, isKilled, `${fault} ${at}`)
      if (answer !== undefined) {
        t.match(answer.content.at(-1).text, /^The result is too .* cannot be reached .* could not be kept\./)
      }
      // The client calls again, on another replica.
      const cutter = createResultCutter(store)
      t.equal(await readAll(cutter, await cut(cutter, text)), text)
      if (isKilled) t.ok(await bytesOf(store) < 1_800_000, 'what a lost replica kept expires')
    }
  }
})

t.test('a remainder in the form of another release is a tool error', async (t) => {
  const store = openStore(t)
  const cutter = createResultCutter(store)
  const cursor = cursorOf(await cut(cutter, lines(20_000)))
  const key = { owner: OWNER, name: `remainder:${cursor?.replace('.0', '')}` }
  const record = await store.peek(key)
  const value = { bytes: Buffer.from('{"tool":"a","parts":[]}') }
  t.ok(await store.replace(key, record?.version ?? '', value))
  await t.rejects(async () => await cutter.readMore(toRequest().request, { cursor }), {
    name: 'ToolError', message: /^This remainder was made by another release and cannot be read/
  })
})
