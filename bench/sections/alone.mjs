// What one request costs, server and load generator in one process: the figure that others on the machine
// disturb least. It is for the comparison of builds with --against. What the load generator costs is in every
// figure.

import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { summarise } from '../figures/summary.mjs'
import { spread } from '../figures/stats.mjs'
import { printServers, spreadText } from '../figures/table.mjs'
import { listContenders } from '../servers/contenders.mjs'
import { driveServer } from '../servers/driven.mjs'
import { recordAnswers } from '../servers/trivet.mjs'
import { workspacePath } from '../workspace.mjs'

const TOOLS = 50

export const name = 'alone'
export const about = 'CPU time of a request, server and load in one process: for builds on a busy machine'

export async function run (options, show) {
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, TOOLS)
  const answersFile = await recordAnswers({ ...options, catalog, toolCount: TOOLS })
  const servers = options.servers.filter((group) => group === 'fastify' || group === 'trivet')
  const contenders = listContenders({ ...options, servers }, { catalog, toolCount: TOOLS, answersFile })
  const load = { methods: options.methods, toolCount: TOOLS, ids: options.ids, batches: options.batches }
  const figures = contenders.map(() => [])
  // Processes of the same code differ by some per cent, so each contender has many.
  for (let process = 0; process < options.processes; process++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const index = (turn + process) % contenders.length
      const costs = await driveServer(await contenders[index].toStart(), load)
      const quiet = options.methods.map((method) => [method, spread(costs[method]).quiet])
      figures[index].push(Object.fromEntries(quiet))
    }
  }
  const references = { ofCeiling: ({ ceiling }) => ceiling, ofTrivet: ({ trivet }) => trivet }
  const rows = summarise(contenders, figures, references)
  const result = { methods: options.methods, ids: options.ids, servers: rows }
  show(result)
  return result
}

export function print ({ methods, ids, servers }) {
  for (const method of methods) {
    printServers(`${method}, server and load in one process, ids: ${ids}`, servers, [
      ['quiet CPU µs', (server) => spreadText(server[method])],
      ['of Fastify', ({ ofCeiling }) => spreadText(ofCeiling?.[method])],
      ['of Trivet', ({ ofTrivet }) => spreadText(ofTrivet?.[method])]
    ])
  }
}
