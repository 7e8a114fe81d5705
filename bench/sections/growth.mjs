// Measures the cost of a call in a large catalog: Trivet with few tools and with many tools.

import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { summarise } from '../figures/summary.mjs'
import { grouped, printServers, saturationColumns } from '../figures/table.mjs'
import { checkAnswers } from '../load/saturate.mjs'
import { saturateInTurns } from '../load/turns.mjs'
import { createChecks } from '../requests/answers.mjs'
import { createRings, forServer } from '../requests/rings.mjs'
import { listBuilds, TRIVET } from '../servers/contenders.mjs'
import { withStarted } from '../servers/started.mjs'
import { workspacePath } from '../workspace.mjs'

const FEW = 5
const MANY = 5000

export const name = 'growth'
export const about = `calls with ${MANY} tools, compared with calls with ${FEW} tools`

export async function run (options, show) {
  const sizes = []
  for (const toolCount of [FEW, MANY]) {
    const catalog = workspacePath('catalog')
    await writeCatalog(catalog, toolCount)
    const builds = listBuilds(options, { catalog, toolCount })
    sizes.push(...builds.map((build) => ({ ...build, build: build.name, toolCount })))
  }
  return withStarted(sizes, async (started) => {
    const contenders = []
    for (const one of started) {
      const { build, toolCount, server } = one
      // Both catalogs get calls of the same few tools, so that both servers answer from warm caches.
      const rings = forServer(createRings({ method: 'tools/call', toolCount: FEW, ids: options.ids }))
      await checkAnswers({ url: server.url, rings }, createChecks(toolCount))
      contenders.push({ ...one, name: nameOf(build, toolCount), rings })
    }
    const figures = await saturateInTurns(contenders, { ...options, rounds: options.narrowRounds })
    const rows = summarise(contenders, figures, { ofFew: ({ build }) => nameOf(build, FEW) })
    show(rows)
    return rows
  })
}

function nameOf (build, toolCount) {
  return `${build}, ${grouped(toolCount)} tools`
}

export function print (rows) {
  printServers('tools/call as the catalog grows', rows, saturationColumns([[`of ${FEW}`, 'ofFew']]))
}

export function yardsticks (rows) {
  return rows.filter(({ name }) => name === nameOf(TRIVET, MANY)).map(({ node, ofFew }) => ({
    name: `tools/call with ${grouped(MANY)} tools, CPU of that with ${FEW}, Node ${node}`,
    atMost: 1.05,
    figure: ofFew.cpuUs.median
  }))
}
