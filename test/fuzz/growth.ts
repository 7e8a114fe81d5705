// What a service holds while nobody uses it: before and after a run it must be the same.

import { setFlagsFromString } from 'node:v8'
import { setTimeout as pause } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import { WireClient } from './client.ts'

export interface Held {
  /** In bytes, after a collection of garbage. */
  readonly heap: number
  /** Streams and connections of the process, by kind. */
  readonly handles: { readonly [kind: string]: number }
  /** Series of /metrics. A label must not have texts of clients. */
  readonly series: number
  readonly openStreams: number
  readonly requests: number
}

/** The caches of the service are full after some thousand requests. In bytes. */
const MAX_HEAP_GROWTH = 48 * 1024 * 1024
const MAX_SERIES = 4000
/** Connections and streams end a moment after their clients. */
const LOOKS = 40
const LOOK_MS = 100

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Waits until nothing is open any more, as long as that may take. */
export async function measureHeld (adminPort: number): Promise<Held> {
  for (let count = 0; ; count++) {
    await pause(LOOK_MS)
    const held = await look(adminPort)
    const isQuiet = held.openStreams === 0 && held.requests === 0 && (held.handles.TCPSocketWrap ?? 0) === 0
    if (isQuiet || count === LOOKS) return held
  }
}

async function look (adminPort: number): Promise<Held> {
  const client = new WireClient(adminPort)
  const { body } = await client.send({
    target: 'admin', method: 'GET', path: '/metrics', headers: [['Connection', 'close']]
  })
  client.close()
  await pause(LOOK_MS)
  collect()
  const handles: { [kind: string]: number } = {}
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1
  return {
    heap: process.memoryUsage().heapUsed,
    handles,
    series: body.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length,
    openStreams: valueOf(body, 'trivet_open_streams'),
    requests: valueOf(body, 'trivet_active_requests')
  }
}

function valueOf (metrics: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0)
}

export function findGrowth (before: Held, after: Held): string[] {
  const problems: string[] = []
  const grown = after.heap - before.heap
  if (grown > MAX_HEAP_GROWTH) problems.push(`the heap has grown by ${Math.round(grown / 1024)} KiB`)
  if (after.series > MAX_SERIES) problems.push(`/metrics has ${after.series} series`)
  if (after.openStreams > 0) problems.push(`${after.openStreams} streams are open`)
  if (after.requests > 0) problems.push(`${after.requests} requests are being served`)
  for (const kind of ['TCPSocketWrap', 'FSReqCallback', 'FileHandle', 'PipeWrap']) {
    const [was = 0, is = 0] = [before.handles[kind], after.handles[kind]]
    if (is > was) problems.push(`${is} open ${kind}, ${was} before`)
  }
  return problems
}
