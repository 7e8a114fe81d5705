// What a session costs: the requests of an earlier revision's clients beside those of the current one, to the
// same process.

import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { summarise } from '../figures/summary.mjs'
import { printServers, saturationColumns } from '../figures/table.mjs'
import { checkAnswers } from '../load/saturate.mjs'
import { saturateInTurns } from '../load/turns.mjs'
import { createChecks } from '../requests/answers.mjs'
import { LEGACY_REVISION, REVISION } from '../requests/messages.mjs'
import { createRings, forServer, openSessions } from '../requests/rings.mjs'
import { listBuilds, TRIVET } from '../servers/contenders.mjs'
import { withStarted } from '../servers/started.mjs'
import { workspacePath } from '../workspace.mjs'

const TOOLS = 50
const METHODS = ['tools/call', 'tools/list']

export const name = 'eras'
export const about = 'calls and lists in a session of an earlier revision beside those of the current one'

export async function run (options, show) {
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, TOOLS)
  const rows = []
  await withStarted(listBuilds(options, { catalog, toolCount: TOOLS }), async (builds) => {
    for (const method of METHODS) {
      const row = { method, tools: TOOLS, eras: await measureEras(options, builds, method) }
      rows.push(row)
      show([row])
    }
  })
  return rows
}

async function measureEras (options, builds, method) {
  const contenders = []
  for (const { name, node, server } of builds) {
    const sessions = await openSessions(server.url)
    for (const [revision, of] of [[REVISION, {}], [LEGACY_REVISION, { sessions }]]) {
      const rings = forServer(createRings({ method, toolCount: TOOLS, ids: options.ids, ...of }))
      await checkAnswers({ url: server.url, rings }, createChecks(TOOLS))
      contenders.push({ name: `${name}, ${revision}`, node, server, rings, build: name })
    }
  }
  // The yardstick is narrow, so the median is taken of more rounds than elsewhere.
  const figures = await saturateInTurns(contenders, { ...options, rounds: options.narrowRounds })
  return summarise(contenders, figures, { ofModern: ({ build }) => `${build}, ${REVISION}` })
}

export function print (rows) {
  for (const { method, tools, eras } of rows) {
    const columns = saturationColumns([['of modern', 'ofModern']])
    printServers(`${method} by revision, ${tools} tools`, eras, columns)
  }
}

export function yardsticks (rows) {
  const { eras } = rows.find(({ method }) => method === 'tools/call')
  return eras.filter(({ name }) => name === `${TRIVET}, ${LEGACY_REVISION}`).map(({ node, ofModern }) => ({
    name: `tools/call in a session, CPU of a modern one's, Node ${node}`,
    atLeast: 0.97,
    atMost: 1.03,
    figure: ofModern.cpuUs.median
  }))
}
