// Measures requests per second and CPU time of each method at saturation. All contenders get the same
// requests.

import { createCollection } from '../figures/collection.mjs'
import { printServers, saturationColumns, spreadText } from '../figures/table.mjs'
import { prepareTargets } from '../load/targets.mjs'
import { saturateInTurns } from '../load/turns.mjs'
import { SDK_DOCUMENTED, TRIVET } from '../servers/contenders.mjs'
import { prepareCatalog } from '../servers/prepare-catalog.mjs'
import { withStarted } from '../servers/started.mjs'

/** The yardsticks apply to a catalog with this number of tools. */
const AT = 50
/** The most CPU of an answer, as a multiple of that of bare Fastify, on Nodes before and from version 24. */
const MOST_OF_FASTIFY = 1.1
const MOST_OF_FASTIFY_24 = 1.15
const LEAST_TIMES_SDK = 50
const SDK_METHODS = ['tools/list', 'tools/call']
/** The peers that every method has to be cheaper than, on requests of the same revision and without a log. */
const RIVALS = ['platformatic/mcp', 'platformatic/mcp, unchecked', 'platformatic/mcp, 2026-07-28']

export const name = 'calls'
export const about = 'each method at saturation, compared with bare Fastify, the SDK and peers'

export async function run (options, show) {
  const rows = []
  for (const toolCount of options.sizes) {
    const listed = await prepareCatalog(options, toolCount, options.servers)
    const measured = new Map(options.methods.map((method) => [method, createCollection(listed)]))
    // Processes of the same code differ in speed, so each contender is started more than once.
    for (let start = 1; start <= options.starts; start++) {
      await withStarted(listed, async (contenders, leftOut) => {
        for (const [method, turns] of measured) {
          for (const one of leftOut) turns.leaveOut(one)
          await measureMethod(options, { contenders, method, toolCount, turns })
          printSoFar(`${method}, after start ${start} of ${options.starts}`, turns.summary())
        }
      })
    }
    const measuredRows = [...measured].map(([method, turns]) => (
      { method, tools: toolCount, ids: options.ids, ...turns.summary() }
    ))
    rows.push(...measuredRows)
    show(measuredRows)
  }
  return rows
}

async function measureMethod (options, { contenders, method, toolCount, turns }) {
  const requests = { method, toolCount, ids: options.ids }
  const ready = await prepareTargets(contenders, requests, turns.leaveOut)
  turns.addStart(ready, await saturateInTurns(ready, options))
}

function printSoFar (title, { servers }) {
  const figures = servers.map(({ name, node, cpuUs }) => `${name} (Node ${node}) ${spreadText(cpuUs)}`)
  console.log(`${title}, CPU µs: ${figures.join(', ')}`)
}

export function print (rows) {
  const columns = saturationColumns([['of Fastify', 'ofCeiling'], ['of Trivet', 'ofTrivet']])
  for (const { method, tools, servers, leftOut } of rows) {
    const rest = leftOut.map(({ name, node, reason }) => (
      [`${name}, Node ${node}`, `left out: ${reason.slice(0, 160)}`]
    ))
    printServers(`${method}, ${tools} tools`, servers, columns, rest)
    for (const { name, differs } of new Map(servers.map((server) => [server.name, server])).values()) {
      if (differs !== undefined) console.log(`  ${name}: ${differs}`)
    }
  }
}

/** The yardsticks use CPU times, because other work on the machine changes CPU times least. */
export function yardsticks (rows) {
  const named = (name, method) => {
    const row = rows.find((row) => row.tools === AT && row.method === method)
    return row?.servers.filter((server) => server.name === name) ?? []
  }
  const methods = [...new Set(rows.map(({ method }) => method))]
  const shares = methods.flatMap((method) => named(TRIVET, method).map(({ node, ofCeiling }) => ({
    name: `CPU of ${method}, of that of bare Fastify, Node ${node}`,
    atMost: parseInt(node) < 24 ? MOST_OF_FASTIFY : MOST_OF_FASTIFY_24,
    figure: ofCeiling?.cpuUs.median
  })))
  const timesOf = (name, method, atLeast) => named(name, method).map(({ node, ofTrivet }) => ({
    name: `CPU of ${method} of ${name}, of Trivet's on the same requests, Node ${node}`,
    atLeast,
    figure: ofTrivet?.cpuUs.median
  }))
  return [
    ...shares,
    ...RIVALS.flatMap((rival) => methods.flatMap((method) => timesOf(rival, method, 1))),
    ...SDK_METHODS.flatMap((method) => timesOf(SDK_DOCUMENTED, method, LEAST_TIMES_SDK))
  ]
}
