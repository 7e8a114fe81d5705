// What one request costs where server and load generator share a process. It is for the comparison of builds
// with --against on a machine that others use: turns are some milliseconds long. What the load generator
// costs is in every figure.

import { createCollection } from '../figures/collection.mjs'
import { printServers, rounded, spreadText } from '../figures/table.mjs'
import { prepareCatalog } from '../servers/prepare-catalog.mjs'
import { startDriven } from '../servers/driven.mjs'

const TOOLS = 50

export const name = 'alone'
export const about = 'CPU time of a request, server and load in one process: for builds on a busy machine'

export async function run (options, show) {
  const listed = await prepareCatalog(options, TOOLS)
  const measured = new Map(options.methods.map((method) => [method, createCollection(listed)]))
  for (let process = 0; process < options.processes; process++) await measureOnce(options, listed, measured)
  const rows = [...measured].map(([method, turns]) => ({ method, ids: options.ids, ...turns.summary() }))
  show(rows)
  return rows
}

/** With processes of their own: those of the same code differ. */
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
      for (const [index, contender] of listed.entries()) turns.add(contender, figures[index])
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
