// Measures the cost of a session: sends requests of an earlier revision and of the current revision to the
// same process.

import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { summarise } from '../figures/summary.mjs'
import { printServers, rounded, saturationColumns, spreadText } from '../figures/table.mjs'
import { checkAnswers } from '../load/saturate.mjs'
import { saturateInTurns } from '../load/turns.mjs'
import { createChecks } from '../requests/answers.mjs'
import { LEGACY_REVISION, REVISION } from '../requests/messages.mjs'
import { createRings, forServer, openSessions } from '../requests/rings.mjs'
import { listBuilds, TRIVET } from '../servers/contenders.mjs'
import { startDriven } from '../servers/driven.mjs'
import { withStarted } from '../servers/started.mjs'
import { workspacePath } from '../workspace.mjs'

const TOOLS = 50
const METHODS = ['tools/call', 'tools/list']
const REVISIONS = [REVISION, LEGACY_REVISION]

export const name = 'eras'
export const about = 'calls and lists in a session of an earlier revision, compared with the current revision'

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
  for (const method of METHODS) {
    const eras = await measureInOneProcess(options, catalog, method)
    const row = { method, tools: TOOLS, isAlone: true, eras }
    rows.push(row)
    show([row])
  }
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
  // The yardstick is narrow, so this section takes more rounds than most sections.
  const figures = await saturateInTurns(contenders, { ...options, rounds: options.narrowRounds })
  return summarise(contenders, figures, { ofModern: ({ build }) => `${build}, ${REVISION}` })
}

/**
 * Measures the two revisions in turns of milliseconds. Both share one process with the load, so that nothing
 * else differs.
 */
async function measureInOneProcess (options, catalog, method) {
  const listed = listBuilds(options, { catalog, toolCount: TOOLS })
  const contenders = listed.flatMap((build) => REVISIONS.map((revision) => (
    { name: `${build.name}, ${revision}`, node: build.node, build: build.name }
  )))
  const figures = contenders.map(() => [])
  for (let process = 0; process < options.processes; process++) {
    for (const [index, { toStart }] of listed.entries()) {
      const driven = await startDriven(await toStart(), { toolCount: TOOLS, ids: options.ids })
      try {
        for (const revision of REVISIONS) await driven.prepare(revision, method, revision === LEGACY_REVISION)
        for (let lap = 0; lap < 2 * options.batches; lap++) {
          for (let turn = 0; turn < REVISIONS.length; turn++) {
            const era = (lap + turn) % REVISIONS.length
            figures[index * REVISIONS.length + era].push({ cpuUs: await driven.measure(REVISIONS[era]) })
          }
        }
      } finally {
        await driven.stop()
      }
    }
  }
  return summarise(contenders, figures, { ofModern: ({ build }) => `${build}, ${REVISION}` })
}

export function print (rows) {
  const columns = saturationColumns([['of modern', 'ofModern']])
  for (const { method, tools, isAlone, eras } of rows) {
    if (isAlone) {
      printServers(`${method} by revision, server and load in one process, ${tools} tools`, eras, [
        ['CPU µs', ({ cpuUs }) => spreadText(cpuUs)],
        ['of modern', ({ ofModern }) => spreadText(ofModern.cpuUs)],
        ['quiet CPU µs', ({ cpuUs }) => rounded(cpuUs.quiet)],
        ['of modern', ({ ofModern }) => rounded(ofModern.cpuUs.quiet)]
      ])
    } else {
      printServers(`${method} by revision, ${tools} tools`, eras, columns)
    }
  }
}

export function yardsticks (rows) {
  const { eras } = rows.find(({ method, isAlone }) => isAlone && method === 'tools/call')
  return eras.filter(({ name }) => name === `${TRIVET}, ${LEGACY_REVISION}`).map(({ node, ofModern }) => ({
    name: `tools/call in a session, CPU of a modern one's, Node ${node}`,
    atLeast: 0.97,
    atMost: 1.03,
    figure: ofModern.cpuUs.median
  }))
}
