// Measures requests per second and CPU time of each method at saturation. All contenders get the same
// requests.

import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { createCollection } from '../figures/collection.mjs'
import { printServers, saturationColumns, spreadText } from '../figures/table.mjs'
import { checkAnswers } from '../load/saturate.mjs'
import { saturateInTurns } from '../load/turns.mjs'
import { createChecks } from '../requests/answers.mjs'
import { createRings, forServer, openSessions } from '../requests/rings.mjs'
import { listContenders, SDK_DOCUMENTED, TRIVET } from '../servers/contenders.mjs'
import { withStarted } from '../servers/started.mjs'
import { recordAnswers } from '../servers/trivet.mjs'
import { workspacePath } from '../workspace.mjs'

/** The yardsticks apply to a catalog with this number of tools. */
const AT = 50
/** The most CPU of an answer, as a multiple of that of bare Fastify. */
const MOST_OF_FASTIFY = 1.05
const LEAST_TIMES_SDK = 50
const SDK_METHODS = ['tools/list', 'tools/call']
/** The peer that every method has to be cheaper than. */
const RIVAL = 'platformatic/mcp'

export const name = 'calls'
export const about = 'each method at saturation, compared with bare Fastify, the SDK and peers'

export async function run (options, show) {
  const rows = []
  for (const toolCount of options.sizes) {
    const catalog = workspacePath('catalog')
    await writeCatalog(catalog, toolCount)
    const answersFile = await recordAnswers({ ...options, catalog, toolCount })
    const listed = listContenders(options, { catalog, toolCount, answersFile })
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
  const shared = createRings(requests)
  const ready = []
  for (const contender of contenders.filter(({ methods = [method] }) => methods.includes(method))) {
    const { url } = contender.server
    try {
      const { isLegacy = false, ownParams } = contender
      const sessions = isLegacy ? await openSessions(url) : undefined
      const isShared = !isLegacy && ownParams === undefined
      const rings = isShared ? shared : createRings({ ...requests, sessions, ownParams })
      const target = { url, rings: forServer(rings) }
      await checkAnswers(target, createChecks(toolCount, contender))
      ready.push({ ...contender, rings: target.rings })
    } catch (error) {
      if (contender.isPeer !== true) throw error
      turns.leaveOut({ ...contender, reason: error.message })
    }
  }
  const figures = await saturateInTurns(ready, options)
  for (const [index, contender] of ready.entries()) turns.add(contender, figures[index])
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
    atMost: MOST_OF_FASTIFY,
    figure: ofCeiling?.cpuUs.median
  })))
  const timesOf = (name, method, atLeast) => named(name, method).map(({ node, ofTrivet }) => ({
    name: `CPU of ${method} of ${name}, of that of Trivet, Node ${node}`,
    atLeast,
    figure: ofTrivet?.cpuUs.median
  }))
  return [
    ...shares,
    ...methods.flatMap((method) => timesOf(RIVAL, method, 1)),
    ...SDK_METHODS.flatMap((method) => timesOf(SDK_DOCUMENTED, method, LEAST_TIMES_SDK))
  ]
}
