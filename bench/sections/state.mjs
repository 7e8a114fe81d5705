// Measures the cost of state: updates through handles, calls of tools with state and without, and the request
// state that a question to the client carries.

import { writeCatalog } from '../catalog/catalog-folder.mjs'
import { summarise } from '../figures/summary.mjs'
import {
  grouped, printServers, printTable, printTitle, rounded, saturationColumns, spreadText
} from '../figures/table.mjs'
import { checkAnswers } from '../load/saturate.mjs'
import { saturateInTurns } from '../load/turns.mjs'
import { listBuilds, TRIVET } from '../servers/contenders.mjs'
import { withStarted } from '../servers/started.mjs'
import { startBackends } from '../state/backends.mjs'
import { BASKET_CHECKS, basketRings, countChanges, createBaskets } from '../state/basket-calls.mjs'
import { READING, STATELESS, UPDATING, writeBasketTools } from '../state/basket-sources.mjs'
import { measureRequestStates } from '../state/request-states.mjs'
import { IN_FLIGHT, measureUpdates } from '../state/updates.mjs'
import { workspacePath } from '../workspace.mjs'

const TOOLS = 50
const SECRET = 'sealed for the length of a benchmark'
/** The most CPU of a call, as a multiple of that of a stateless one, by what it does with state. */
const MOST = { [READING]: 1.2, [UPDATING]: 1.8 }

export const name = 'state'
export const about = 'updates and stateful calls on each backend, and sealed request state'

export async function run (options, show) {
  const { backends, leftOut, stop } = await startBackends()
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, TOOLS)
  await writeBasketTools(catalog)
  const results = { updates: [], calls: [], leftOut }
  const add = (part) => {
    show(part)
    for (const [key, value] of Object.entries(part)) results[key] = [...results[key], ...value]
  }
  try {
    for (const backend of backends) add({ updates: await measureUpdates(options, backend) })
    for (const backend of backends) add({ calls: [await measureCalls(options, catalog, backend)] })
  } finally {
    await stop()
  }
  const requestStates = await measureRequestStates(options)
  show({ requestStates, leftOut })
  return { ...results, requestStates }
}

async function measureCalls (options, catalog, { name: backend, addressOf }) {
  const settingsOf = () => ({ TRIVET_STATE_URL: addressOf(), TRIVET_SECRETS: SECRET })
  return withStarted(listBuilds(options, { catalog, toolCount: TOOLS, settingsOf }), async (builds) => {
    const contenders = []
    for (const { name: build, node, server } of builds) {
      const basketIds = await createBaskets(server.url)
      for (const tool of [STATELESS, READING, UPDATING]) {
        const rings = basketRings(tool, basketIds, options.ids)
        await checkAnswers({ url: server.url, rings }, BASKET_CHECKS, 1)
        contenders.push({ name: `${build}, ${tool}`, build, tool, node, server, rings, basketIds })
      }
    }
    // Redis and PostgreSQL run in their own processes, and lmdb writes in its own threads.
    const figures = await saturateInTurns(contenders, { ...options, sleeps: backend !== 'memory' })
    for (const { tool, ...contender } of contenders) if (tool === UPDATING) await refuseLostUpdates(contender)
    const references = { ofStateless: ({ build }) => `${build}, ${STATELESS}` }
    return { backend, tools: summarise(contenders, figures, references) }
  })
}

async function refuseLostUpdates ({ server, rings, basketIds }) {
  const answered = rings.reduce((sum, ring) => sum + ring.answered, 0)
  const changes = await countChanges(server.url, basketIds)
  if (changes !== answered) throw new Error(`${answered} updates were answered, but ${changes} are kept`)
}

/** Prints the parts that it gets. */
export function print ({ updates = [], calls = [], requestStates, leftOut = {} }) {
  if (updates.length > 0) {
    printTitle(`Updates through handles, ${IN_FLIGHT} in flight, in the Node of the benchmark itself`)
    printTable(['', 'handles', 'updates/s', 'p50 ms', 'p99 ms', 'refused'], updates.map(toUpdateRow))
  }
  for (const { backend, tools } of calls) {
    const columns = saturationColumns([['of stateless', 'ofStateless']])
    printServers(`tools/call with state in ${backend}`, tools, columns)
  }
  for (const [name, reason] of Object.entries(leftOut)) printTitle(`${name} is left out: ${reason}`)
  if (requestStates === undefined) return
  const { bytes, tokenBytes, sealsPerSecond, opensPerSecond } = requestStates
  printTitle(`Request state of ${bytes} bytes, ${tokenBytes} sealed`)
  const perSecond = (figures) => spreadText(figures, grouped)
  console.log(`${perSecond(sealsPerSecond)} seals/s, ${perSecond(opensPerSecond)} opens/s`)
}

function toUpdateRow ({ backend, handles, perSecond, p50Ms, p99Ms, refused }) {
  const medians = [rounded(p50Ms.median), rounded(p99Ms.median), grouped(refused.median)]
  return [backend, grouped(handles), spreadText(perSecond, grouped), ...medians]
}

export function yardsticks ({ calls }) {
  return calls.flatMap(({ backend, tools }) => Object.entries(MOST).flatMap(([tool, atMost]) => (
    tools.filter(({ name }) => name === `${TRIVET}, ${tool}`).map(({ node, ofStateless }) => ({
      name: `CPU of ${tool}, of that of a stateless call, ${backend}, Node ${node}`,
      atMost,
      figure: ofStateless.cpuUs.median
    }))
  )))
}
