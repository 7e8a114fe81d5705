// Measures a cold start: time and CPU time from the spawn of the process to its first answer.

import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { summarise } from '../figures/summary.mjs'
import { grouped, printServers, spreadText } from '../figures/table.mjs'
import { watchOthers } from '../load/others.mjs'
import { ask } from '../requests/answers.mjs'
import { legacyRequest, modernRequest, openSession } from '../requests/messages.mjs'
import { listBuilds, listContenders, TRIVET } from '../servers/contenders.mjs'
import { recordAnswers } from '../servers/trivet.mjs'
import { workspacePath } from '../workspace.mjs'

const FEW = 50
const MANY = 5000
const CALL = ['tools/call', { name: 'tool_0000', arguments: { query: 'three legs' } }]

export const name = 'startup'
export const about = `time and CPU time to the first answer with ${FEW} tools and with ${MANY}`

export async function run (options, show) {
  const rows = []
  for (const toolCount of [FEW, MANY]) {
    const catalog = workspacePath('catalog')
    await writeCatalog(catalog, toolCount)
    const row = { tools: toolCount, servers: await measureStarts(options, { catalog, toolCount }) }
    rows.push(row)
    show([row])
  }
  return rows
}

async function measureStarts (options, { catalog, toolCount }) {
  // With thousands of tools, only Trivet is measured, because it reads a folder. The other servers are not
  // worth the wait.
  const answersFile = toolCount === FEW ? await recordAnswers({ ...options, catalog, toolCount }) : undefined
  const list = toolCount === FEW ? listContenders : listBuilds
  const servers = options.servers.filter((group) => group !== 'silent')
  const contenders = list({ ...options, servers }, { catalog, toolCount, answersFile })
  const figures = contenders.map(() => [])
  for (let round = 0; round < options.coldStarts; round++) {
    for (const [index, contender] of contenders.entries()) {
      try {
        figures[index].push(await startOnce(contender))
      } catch (error) {
        if (contender.isPeer !== true) throw error
      }
    }
  }
  const complete = contenders.filter((_, index) => figures[index].length === options.coldStarts)
  const completeFigures = figures.filter((rounds) => rounds.length === options.coldStarts)
  return summarise(complete, completeFigures, { ofTrivet: () => TRIVET })
}

async function startOnce ({ start, isLegacy = false }) {
  const shareOfOthers = watchOthers()
  const startedAt = performance.now()
  const server = await start()
  try {
    const { url } = server
    await ask(url, isLegacy ? legacyRequest(...CALL, 1, await openSession(url)) : modernRequest(...CALL))
    const seconds = (performance.now() - startedAt) / 1000
    const { cpuMs, rssBytes } = await server.usage()
    return { seconds, cpuSeconds: cpuMs / 1000, memoryMiB: rssBytes / 2 ** 20, others: shareOfOthers(cpuMs) }
  } finally {
    await server.stop()
  }
}

export function print (rows) {
  for (const { tools, servers } of rows) {
    printServers(`To the first answer, ${grouped(tools)} tools`, servers, [
      ['seconds', ({ seconds }) => spreadText(seconds)],
      ['CPU seconds', ({ cpuSeconds }) => spreadText(cpuSeconds)],
      ['of Trivet', ({ ofTrivet }) => spreadText(ofTrivet?.cpuSeconds)],
      ['memory MiB', ({ memoryMiB }) => spreadText(memoryMiB)]
    ])
  }
}

export function yardsticks (rows) {
  const { servers } = rows.find(({ tools }) => tools === MANY)
  return servers.filter(({ name }) => name === TRIVET).map(({ node, seconds }) => (
    { name: `start-up with ${grouped(MANY)} tools, seconds, Node ${node}`, atMost: 5, figure: seconds.median }
  ))
}
