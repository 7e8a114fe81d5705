// What a request costs: the CPU time beyond the time of parsing its bytes, the bytes of its answer, and the
// operations of the store. The comments of the tests are rows of a table: `npm run costs` prints them.

import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { memoryBackend } from '../../src/platform/store/backends/memory/backend.ts'
import type { StateStore } from '../../src/platform/store/records/state-store.ts'
import type { ToSend } from './request.ts'

const MAX_CPU_MS = 50
const MIN_RUNS = 3
const MAX_RUNS = 40
/** Between the later runs, so that they do not all meet the same other work. */
const PAUSE_MS = 250

/** Of a body, in bytes. Below the default limit with its envelope. */
export const LARGE = 1_000_000

/** Constants that let any body in: what works on its value must be linear too. */
export const UNLIMITED = { maxBodyDepth: 10_000, maxBodyWeight: 10_000_000 }

/** What is measured of an answer. */
interface Sent { readonly status: number, readonly bytes: number }

export interface CostlyRequest {
  readonly kind: string
  /** The body, whose parsing does not count. */
  readonly body?: string
  /** Called before each run. Does not count. */
  prepare? (): Promise<unknown>
  send (): Promise<Sent>
  /** The most reads of the store, and the most writes. None by default. */
  readonly reads?: number
  readonly writes?: number
  /** The most CPU time in milliseconds. 50 by default. */
  readonly maxMs?: number
}

/** The operations of a store since `reset`. */
export interface StoreUse {
  readonly reads: number
  readonly writes: number
  reset (): void
}

const READS = ['read', 'peek', 'list']
const WRITES = ['create', 'replace', 'delete']

/** Counts the operations of each store of memory that is opened until the test ends. */
export function countStoreUse (t: Test): StoreUse {
  const { open } = memoryBackend
  const use = { reads: 0, writes: 0, reset () { use.reads = use.writes = 0 } }
  const counting = (store: StateStore) => Object.fromEntries(Object.entries(store).map(([name, method]) => [
    name, (...args: unknown[]) => {
      if (READS.includes(name)) use.reads++
      if (WRITES.includes(name)) use.writes++
      return method(...args)
    }
  ])) as unknown as StateStore
  Object.assign(memoryBackend, {
    open: async (...args: Parameters<typeof open>) => {
      const backend = await open(...args)
      return { ...backend, store: counting(backend.store) }
    }
  })
  t.teardown(() => { Object.assign(memoryBackend, { open }) })
  return use
}

/** Asserts that no request costs more than it may. Each is sent several times; its cheapest run counts. */
export async function checkCosts (t: Test, use: StoreUse, requests: readonly CostlyRequest[]): Promise<void> {
  for (const request of requests) {
    const { kind, maxMs = MAX_CPU_MS, reads = 0, writes = 0 } = request
    const cost = await measure(request, maxMs, use)
    const cells = [kind, cost.status, cost.ms.toFixed(1), cost.bytes, cost.reads, cost.writes]
    t.comment(`| ${cells.join(' | ')} |`)
    t.ok(cost.ms < maxMs, `${kind}: ${cost.ms.toFixed(1)} ms`)
    t.ok(cost.reads <= reads && cost.writes <= writes, `${kind}: ${cost.reads} reads, ${cost.writes} writes`)
  }
}

/** Sends it to the app in this process. */
export function posted (app: FastifyInstance, kind: string, { headers, body }: ToSend): CostlyRequest {
  return {
    kind,
    body,
    async send () {
      const { statusCode, rawPayload } = await app.inject({ method: 'POST', url: '/mcp', headers, body })
      return { status: statusCode, bytes: rawPayload.length }
    }
  }
}

async function measure ({ body = '""', prepare, send }: CostlyRequest, maxMs: number, use: StoreUse) {
  let [parsing, serving] = [Infinity, Infinity]
  let sent: Sent = { status: 0, bytes: 0 }
  let [reads, writes] = [0, 0]
  for (let run = 0; run < MAX_RUNS && (run < MIN_RUNS || serving - parsing > maxMs); run++) {
    if (run >= MIN_RUNS) await pause(PAUSE_MS)
    await prepare?.()
    parsing = Math.min(parsing, parsingMs(body))
    use.reset()
    const start = process.cpuUsage()
    sent = await send()
    serving = Math.min(serving, cpuMs(start))
    reads = Math.max(reads, use.reads)
    writes = Math.max(writes, use.writes)
  }
  return { ...sent, ms: Math.max(0, serving - parsing), reads, writes }
}

function cpuMs (since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

function parsingMs (body: string): number {
  const start = process.cpuUsage()
  JSON.parse(Buffer.from(body).toString())
  return cpuMs(start)
}
