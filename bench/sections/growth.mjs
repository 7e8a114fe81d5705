// What a call costs as the catalog grows: Trivet with few tools and with many.

import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { summarise } from '../figures/summary.mjs'
import { grouped, othersText, printTable, printTitle, rounded, spreadText } from '../figures/table.mjs'
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
export const about = `calls with ${MANY} tools beside calls with ${FEW}`

export async function run (options, show) {
  const sizes = []
  for (const toolCount of [FEW, MANY]) {
    const catalog = workspacePath('catalog')
    await writeCatalog(catalog, toolCount)
    sizes.push(...listBuilds(options, { catalog, toolCount }).map((build) => ({ ...build, build: build.name, toolCount })))
  }
  return withStarted(sizes, async (started) => {
    const contenders = []
    for (const one of started) {
      const { build, toolCount, server } = one
      // As many different tools in both: a server that has seen them all serves from warm caches.
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
  printTitle(`tools/call as the catalog grows; ${othersText(rows)}`)
  printTable(['', 'Node', 'req/s', `of ${FEW}`, 'CPU µs', `of ${FEW}`, 'quiet CPU µs', `of ${FEW}`], rows.map((row) => [
    row.name, row.node, spreadText(row.perSecond, grouped), spreadText(row.ofFew.perSecond),
    spreadText(row.cpuUs), spreadText(row.ofFew.cpuUs), rounded(row.cpuUs.quiet), rounded(row.ofFew.cpuUs.quiet)
  ]))
}

export function yardsticks (rows) {
  return rows.filter(({ name }) => name === nameOf(TRIVET, MANY)).map(({ node, ofFew }) => (
    { name: `tools/call with ${MANY} tools, CPU of ${FEW} tools', Node ${node}`, atMost: 1.05, figure: ofFew.cpuUs.median }
  ))
}
