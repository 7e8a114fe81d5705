// What is kept of cut results, where the store is full, away or lost, or another release has written it.

import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createResultWriter } from '../../../src/catalog/compiled/results/result-json.ts'
import { textResult } from '../../../src/catalog/compiled/results/tool-result-json.ts'
import { createResultCutter } from '../../../src/features/remainders/remainders.ts'
import { NO_LIMITS } from '../../../src/platform/limits/call-limits.ts'
import { createMemoryStateStore } from '../../../src/platform/store/backends/memory/state-store.ts'
import type { StateStore } from '../../../src/platform/store/records/state-store.ts'
import { ownerOf } from '../../../src/platform/access/principal.ts'
import { Lifetime } from '../../../src/request/pipeline/lifetime.ts'
import type { RequestContext } from '../../../src/request/pipeline/request-context.ts'
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

async function cut (store: StateStore, text: string, address?: string): Promise<Message> {
  const tool = { key: 'a', clientCheck: undefined, limits: { ...NO_LIMITS, cutBytes: MAX_BYTES } }
  const { request } = toRequest(address)
  const result = await createResultCutter(store).fit(request, tool, textResult(writer, text))
  if (typeof result !== 'string') throw new TypeError('not cut')
  return JSON.parse(result)
}

async function readAll (store: StateStore, first: Message): Promise<string> {
  let text = first.content[0].text
  for (let cursor = cursorOf(first); cursor !== undefined;) {
    const result = await createResultCutter(store).readMore(toRequest().request, { cursor })
    if (typeof result !== 'string') throw new TypeError('too large')
    t.ok(Buffer.byteLength(result) <= MAX_BYTES)
    const parsed = JSON.parse(result)
    text += parsed.content[0].text
    cursor = cursorOf(parsed)
  }
  return text
}

const lines = (count: number) => Array.from({ length: count }, (_, line) => `${line} "ü" 👩‍🚀\n`).join('')

async function bytesOf (store: StateStore): Promise<number> {
  const names = [...(await store.list(OWNER)).keys()]
  const records = await Promise.all(names.map(async (name) => await store.peek({ owner: OWNER, name })))
  return records.reduce((sum, record) => sum + (record?.value.bytes.length ?? 0), 0)
}

t.test('a caller has 32 MiB of remainders at most, and is told when they are full', async (t) => {
  const store = openStore(t)
  const text = lines(120_000)
  t.ok(Buffer.byteLength(text) > 2_500_000)
  const first = await cut(store, text)
  t.equal(await readAll(store, first), text, 'a large one is in several parts')
  let last = first
  for (let calls = 0; cursorOf(last) !== undefined && calls < 100; calls++) last = await cut(store, text)
  const bytes = await bytesOf(store)
  t.ok(bytes > 25_000_000 && bytes <= 33_554_432, `${bytes} bytes`)
  t.equal(
    last.content.at(-1).text.replace(/^.*characters\. /, ''),
    'No new remainder can be made. Too many kept parts of results of yours (128). ' +
    'Each is kept for an hour. The remainder could not be kept. ' +
    'Call a with arguments that ask for less.'
  )
  t.ok(cursorOf(await cut(store, 'a b '.repeat(30_000))), 'what was kept of it is deleted again')
  t.ok(cursorOf(await cut(store, lines(60_000), '192.0.2.1')), 'a network without a token has its own tenth')
})

t.test('the parts of a remainder, with the store failing at each write', async (t) => {
  const text = lines(40_000)
  for (const fault of ['refused', 'lost', 'killed-before', 'killed-after'] as const) {
    for (let at = 0; at < 4; at++) {
      const store = openStore(t)
      const replica = new FaultyStore(store, 0)
      replica.fail(at, fault)
      const answer = await Promise.race([
        cut(replica.store, text), pause(100, undefined)
      ])
      const isKilled = fault.startsWith('killed')
      t.equal(answer === undefined, isKilled, `${fault} ${at}`)
      if (answer !== undefined) {
        t.match(answer.content.at(-1).text, /^The result is too .* cannot be reached .* could not be kept\./)
      }
      // The client calls again, on another replica.
      t.equal(await readAll(store, await cut(store, text)), text)
      if (isKilled) t.ok(await bytesOf(store) < 1_800_000, 'what a lost replica kept expires')
    }
  }
})

t.test('a remainder in the form of another release is a tool error', async (t) => {
  const store = openStore(t)
  const cursor = cursorOf(await cut(store, lines(20_000)))
  const key = { owner: OWNER, name: `remainder:${cursor?.replace('.0', '')}` }
  const record = await store.peek(key)
  const value = { bytes: Buffer.from('{"tool":"a","parts":[]}') }
  t.ok(await store.replace(key, record?.version ?? '', value))
  await t.rejects(async () => await createResultCutter(store).readMore(toRequest().request, { cursor }), {
    name: 'ToolError', message: /^This remainder was made by another release and cannot be read/
  })
})
