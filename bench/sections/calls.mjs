// Requests per second and CPU time for each method: everyone, on the same requests, as many as each can do.

import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { summarise } from '../figures/summary.mjs'
import { grouped, othersText, printTable, printTitle, rounded, spreadText } from '../figures/table.mjs'
import { checkAnswers } from '../load/saturate.mjs'
import { saturateInTurns } from '../load/turns.mjs'
import { createChecks } from '../requests/answers.mjs'
import { createRings, forServer, openSessions } from '../requests/rings.mjs'
import { listContenders, SDK_DOCUMENTED, TRIVET } from '../servers/contenders.mjs'
import { withStarted } from '../servers/started.mjs'
import { recordAnswers } from '../servers/trivet.mjs'
import { workspacePath } from '../workspace.mjs'

/** At this size the yardsticks apply. */
const AT = 50

export const name = 'calls'
export const about = 'each method at saturation, beside bare Fastify, the SDK and peers'

export async function run (options, show) {
  const rows = []
  for (const toolCount of options.sizes) {
    const catalog = workspacePath('catalog')
    await writeCatalog(catalog, toolCount)
    const answersFile = await recordAnswers({ ...options, catalog, toolCount })
    await withStarted(listContenders(options, { catalog, toolCount, answersFile }), async (contenders, notStarted) => {
      for (const method of options.methods) {
        const row = await measureMethod(options, { contenders, method, toolCount, notStarted })
        rows.push(row)
        show([row])
      }
    })
  }
  return rows
}

async function measureMethod (options, { contenders, method, toolCount, notStarted }) {
  const shared = createRings({ method, toolCount, ids: options.ids })
  const leftOut = [...notStarted]
  const measured = []
  for (const contender of contenders.filter(({ methods = [method] }) => methods.includes(method))) {
    const { url } = contender.server
    try {
      const requests = { method, toolCount, ids: options.ids }
      const rings = contender.isLegacy === true ? createRings({ ...requests, sessions: await openSessions(url) }) : shared
      const target = { url, rings: forServer(rings) }
      await checkAnswers(target, createChecks(toolCount, contender))
      measured.push({ ...contender, rings: target.rings })
    } catch (error) {
      if (contender.isPeer !== true) throw error
      leftOut.push({ name: contender.name, node: contender.node, reason: error.message })
    }
  }
  const figures = await saturateInTurns(measured, options)
  const references = { ofCeiling: ({ ceiling }) => ceiling, ofTrivet: ({ trivet }) => trivet }
  return { method, tools: toolCount, ids: options.ids, servers: summarise(measured, figures, references), leftOut }
}

export function print (rows) {
  for (const { method, tools, servers, leftOut } of rows) {
    printTitle(`${method}, ${tools} tools; ${othersText(servers)}`)
    printTable(['', 'Node', 'req/s', 'of Fastify', 'of Trivet', 'CPU µs', 'of Fastify', 'of Trivet', 'quiet CPU µs', 'of Fastify', 'of Trivet', 'p99 ms', 'generator'], [
      ...servers.map((server) => [
        server.name, server.node, spreadText(server.perSecond, grouped),
        spreadText(server.ofCeiling?.perSecond), spreadText(server.ofTrivet?.perSecond),
        spreadText(server.cpuUs), spreadText(server.ofCeiling?.cpuUs), spreadText(server.ofTrivet?.cpuUs),
        rounded(server.cpuUs.quiet), rounded(server.ofCeiling?.cpuUs.quiet), rounded(server.ofTrivet?.cpuUs.quiet),
        rounded(server.p99Ms.median), rounded(server.clientBusy.median)
      ]),
      ...leftOut.map(({ name, node, reason }) => [`${name}, Node ${node}`, `left out: ${reason.slice(0, 160)}`])
    ])
    for (const { name, differs } of new Map(servers.map((server) => [server.name, server])).values()) {
      if (differs !== undefined) console.log(`  ${name}: ${differs}`)
    }
  }
}

/** Of CPU times, because they move least when something else keeps the machine busy. */
export function yardsticks (rows) {
  const row = (method) => rows.find((row) => row.tools === AT && row.method === method)
  const trivets = (method) => row(method)?.servers.filter(({ name }) => name === TRIVET) ?? []
  const shares = [['tools/list', 0.85], ['tools/call', 0.80]].flatMap(([method, atLeast]) => trivets(method).map(({ node, ofCeiling }) => (
    { name: `${method} of bare Fastify, by CPU, Node ${node}`, atLeast, figure: ofCeiling && 1 / ofCeiling.cpuUs.median }
  )))
  const times = ['tools/list', 'tools/call'].flatMap((method) => (
    row(method)?.servers.filter(({ name }) => name === SDK_DOCUMENTED).map(({ node, ofTrivet }) => (
      { name: `${method}, times the SDK as documented, by CPU, Node ${node}`, atLeast: 50, figure: ofTrivet?.cpuUs.median }
    )) ?? []
  ))
  return [...shares, ...times]
}
