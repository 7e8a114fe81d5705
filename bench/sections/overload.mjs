// Measures what the service does with more calls than it can serve: how many it still answers, how long these
// take, and how many it refuses. The tools wait, as for a database, for a time that differs from call to
// call, and then compute.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { grouped, printTable, printTitle } from '../figures/table.mjs'
import { openLoop } from '../load/open-loop.mjs'
import { toBytes } from '../load/wire.mjs'
import { modernRequest } from '../requests/messages.mjs'
import { startTrivet } from '../servers/trivet.mjs'
import { workspacePath } from '../workspace.mjs'

const TOOLS = [
  { name: 'slow', waitMs: 50, cpuMs: 5 },
  { name: 'quick', waitMs: 20, cpuMs: 1 }
]
/** An empty variable counts as absent. */
const DEFAULT = { TRIVET_OVERLOAD: '' }
/** Parts of the capacity. The first is the calm with which the others are compared. */
const LOADS = [0.3, 0.9, 2, 4]
/** The share refused is settled after this time. */
const SETTLE_SECONDS = 5

export const name = 'overload'
export const about = 'calls served and refused, and their latency, at up to four times the capacity'

export async function run (options, show) {
  const catalog = workspacePath('overload')
  await mkdir(join(catalog, 'tools'), { recursive: true })
  for (const tool of TOOLS) await writeFile(join(catalog, 'tools', `${tool.name}.mjs`), toModule(tool))
  const rows = []
  for (const node of options.nodes) {
    for (const tool of TOOLS) {
      const row = { node: node.version, tool: tool.name, loads: await measure(options, node, catalog, tool) }
      rows.push(row)
      show([row])
    }
  }
  return rows
}

async function measure (options, node, catalog, { name: tool }) {
  const { main } = options
  const server = await startTrivet({ main, node: node.path, catalog, settings: DEFAULT })
  const target = {
    url: server.url,
    toBytes: (index) => toBytes(modernRequest('tools/call', { name: tool, arguments: {} }, index))
  }
  const seconds = options.seconds * 5
  try {
    const capacity = await findCapacity(target, seconds)
    const loads = []
    for (const load of LOADS) {
      const figures = await openLoop(
        target, { perSecond: capacity * load, seconds: seconds + SETTLE_SECONDS, skipSeconds: SETTLE_SECONDS }
      )
      loads.push({ load, capacity, ...figures })
    }
    return loads
  } finally {
    await server.stop()
  }
}

/** The most calls in a second: the rate grows until the service does not follow. */
async function findCapacity (target, seconds) {
  let best = 0
  for (let perSecond = 50; perSecond < best * 2 + 100; perSecond *= 1.25) {
    const { served } = await openLoop(target, { perSecond, seconds, skipSeconds: 1 })
    best = Math.max(best, served)
  }
  return best
}

function toModule ({ name: tool, waitMs, cpuMs }) {
  return `import { setTimeout as sleep } from 'node:timers/promises'
import { defineTool } from 'trivet'

export default defineTool({
  name: '${tool}',
  description: 'Waits, then computes',
  inputSchema: { type: 'object' },
  async run () {
    await sleep(${waitMs / 2} + Math.random() * ${waitMs})
    const end = performance.now() + ${cpuMs}
    while (performance.now() < end);
    return 'done'
  }
})
`
}

export function print (rows) {
  for (const { node, tool, loads } of rows) {
    printTitle(`Overload, tool ${tool}, Node ${node}, capacity ${grouped(loads[0].capacity)} calls/s`)
    const head = ['load', 'served/s', 'of capacity', 'refused', 'p50 ms', 'p99 ms', 'of calm', 'lost']
    printTable(head, loads.map(({ load, capacity, served, refused, p50Ms, p99Ms, lost }) => [
      `${load} x`,
      grouped(served),
      (served / capacity).toFixed(2),
      percent(refused / (served + refused)),
      p50Ms?.toFixed(1) ?? '',
      p99Ms?.toFixed(1) ?? '',
      p99Ms === undefined ? '' : (p99Ms / loads[0].p99Ms).toFixed(2),
      percent(lost)
    ]))
  }
}

export function yardsticks (rows) {
  return rows.flatMap(({ node, tool, loads }) => {
    const twice = loads.find(({ load }) => load === 2)
    const where = `at twice the capacity, tool ${tool}, Node ${node}`
    return [
      { name: `served of the capacity ${where}`, atLeast: 0.8, figure: twice.served / twice.capacity },
      { name: `p99 of calm ${where}`, atMost: 3, figure: twice.p99Ms / loads[0].p99Ms }
    ]
  })
}

function percent (share) {
  return `${(share * 100).toFixed(1)} %`
}
