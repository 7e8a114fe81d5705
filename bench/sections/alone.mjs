// Measures the CPU time of one request while server and load generator share a process. This section is for
// the comparison of builds with --against on a busy machine, because its turns are only milliseconds long.
// Every figure includes the CPU time of the load generator.

import { createCollection } from '../figures/collection.mjs'
import { printServers, rounded, spreadText } from '../figures/table.mjs'
import { prepareCatalog } from '../servers/prepare-catalog.mjs'
import { startDriven } from '../servers/driven.mjs'

const TOOLS = 50

export const name = 'alone'
export const about = 'CPU time of a request, server and load in one process; compares builds on busy machines'

export async function run (options, show) {
  const listed = await prepareCatalog(options, TOOLS)
  const measured = new Map(options.methods.map((method) => [method, createCollection(listed)]))
  for (let process = 0; process < options.processes; process++) await measureOnce(options, listed, measured)
  const rows = [...measured].map(([method, turns]) => ({ method, ids: options.ids, ...turns.summary() }))
  show(rows)
  return rows
}

/** Starts new processes, because processes of the same code differ in speed. */
async function measureOnce (options, listed, measured) {
  const driven = []
  try {
    for (const { toStart } of listed) {
      driven.push(await startDriven(await toStart(), { toolCount: TOOLS, ids: options.ids }))
    }
    for (const [method, turns] of measured) {
      for (const one of driven) await one.prepare(method, method)
      const figures = listed.map(() => [])
      for (let lap = 0; lap < options.batches; lap++) {
        for (let turn = 0; turn < listed.length; turn++) {
          const index = (turn + lap) % listed.length
          figures[index].push({ cpuUs: await driven[index].measure(method) })
        }
      }
      turns.addStart(listed, figures)
    }
  } finally {
    for (const one of driven) await one.stop()
  }
}

export function print (rows) {
  for (const { method, ids, servers } of rows) {
    printServers(`${method}, server and load in one process, ids: ${ids}`, servers, [
      ['CPU µs', ({ cpuUs }) => spreadText(cpuUs)],
      ['of Fastify', ({ ofCeiling }) => spreadText(ofCeiling?.cpuUs)],
      ['of Trivet', ({ ofTrivet }) => spreadText(ofTrivet?.cpuUs)],
      ['quiet CPU µs', ({ cpuUs }) => rounded(cpuUs.quiet)],
      ['of Trivet', ({ ofTrivet }) => rounded(ofTrivet?.cpuUs.quiet)]
    ])
  }
}
