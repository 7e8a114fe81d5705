// Measures tasks: how many a service begins and ends on each backend, and what a tool whose calls may become
// tasks costs while they do not.

import { summarise } from '../figures/summary.mjs'
import {
  grouped, printServers, printTitle, rounded, saturationColumns, spreadText
} from '../figures/table.mjs'
import { interleave } from '../load/rounds.mjs'
import { checkAnswers } from '../load/saturate.mjs'
import { saturateInTurns } from '../load/turns.mjs'
import { listBuilds, TRIVET } from '../servers/contenders.mjs'
import { withStarted } from '../servers/started.mjs'
import { startBackends } from '../state/backends.mjs'
import { IN_FLIGHT, runTasks } from '../tasks/task-rates.mjs'
import {
  KINDS, MODES, readingRings, TASK_CHECKS, taskRings, toolName, writeTaskTools
} from '../tasks/task-tools.mjs'
import { workspacePath } from '../workspace.mjs'

const SECRET = 'sealed for the length of a benchmark'
/** The most that a tool whose calls may become tasks costs, of one whose calls may not. */
const MOST_COST = 1.03
/** The most that a read of a completed task costs, of a call of a tool without tasks. */
const MOST_OF_READ = 1.5
const READ = 'tasks/get of a completed task'

export const name = 'tasks'
export const about = 'tasks per second on each backend, and the cost of a tool whose calls may become tasks'

export async function run (options, show) {
  const catalog = workspacePath('catalog')
  await writeTaskTools(catalog)
  const { backends, leftOut, stop } = await startBackends()
  const rates = []
  try {
    for (const backend of backends) {
      const measured = await measureRates(options, catalog, backend)
      show({ rates: [measured] })
      rates.push(measured)
    }
  } finally {
    await stop()
  }
  const costs = await measureCosts(options, catalog)
  show({ costs, leftOut })
  return { rates, costs, leftOut }
}

async function measureRates (options, catalog, { name: backend, addressOf }) {
  const settingsOf = () => ({
    TRIVET_STATE_URL: addressOf(), TRIVET_SECRETS: SECRET, TRIVET_MAX_TASKS_PER_CALLER: '1000000'
  })
  return withStarted(listBuilds(options, { catalog, settingsOf }), async (builds) => {
    for (const { server } of builds) await runTasks(server, options.warmUpSeconds)
    const figures = await interleave(builds, options, async ({ server }) => (
      await runTasks(server, options.seconds)
    ))
    const perTask = figures.map((rounds) => (
      rounds.map(({ cpuMs, count, ...round }) => ({ ...round, cpuUs: cpuMs * 1000 / count }))
    ))
    return { backend, servers: summarise(builds, perTask) }
  })
}

async function measureCosts (options, catalog) {
  const settingsOf = () => ({ TRIVET_STATE_URL: 'memory:' })
  return withStarted(listBuilds(options, { catalog, settingsOf }), async (builds) => {
    const contenders = []
    for (const { name: build, node, server } of builds) {
      for (const kind of KINDS) {
        for (const mode of MODES) {
          const rings = taskRings(toolName(mode, kind), options.ids)
          await checkAnswers({ url: server.url, rings }, TASK_CHECKS, 1)
          contenders.push({ name: `${build}, ${kind}, ${mode}`, build, kind, node, server, rings })
        }
      }
      const rings = await readingRings(server.url, options.ids)
      await checkAnswers({ url: server.url, rings }, TASK_CHECKS, 1)
      contenders.push({ name: `${build}, ${READ}`, build, kind: KINDS[0], node, server, rings })
    }
    const figures = await saturateInTurns(contenders, { ...options, rounds: options.narrowRounds })
    return summarise(contenders, figures, {
      ofNever: ({ build, kind }) => `${build}, ${kind}, ${MODES[0]}`
    })
  })
}

/** Prints the parts that it gets. */
export function print ({ rates = [], costs, leftOut = {} }) {
  for (const { backend, servers } of rates) {
    printServers(`Tasks begun and read as completed, ${IN_FLIGHT} in flight, in ${backend}`, servers, [
      ['tasks/s', ({ perSecond }) => spreadText(perSecond, grouped)],
      ['CPU µs of the service', ({ cpuUs }) => spreadText(cpuUs)],
      ['p50 ms', ({ p50Ms }) => rounded(p50Ms.median)],
      ['p99 ms', ({ p99Ms }) => rounded(p99Ms.median)]
    ])
  }
  for (const [backend, reason] of Object.entries(leftOut)) printTitle(`${backend} is left out: ${reason}`)
  if (costs === undefined) return
  printServers('tools/call that becomes no task, and tasks/get', costs, saturationColumns([
    ['of never', 'ofNever']
  ]))
}

export function yardsticks ({ costs }) {
  const reads = costs.filter(({ name }) => name === `${TRIVET}, ${READ}`).map(({ node, ofNever }) => ({
    name: `CPU of ${READ}, of that of a ${KINDS[0]} tools/call, Node ${node}`,
    atMost: MOST_OF_READ,
    figure: ofNever.cpuUs.median
  }))
  return [...reads, ...KINDS.flatMap((kind) => (
    costs.filter(({ name }) => name === `${TRIVET}, ${kind}, ${MODES[1]}`).map(({ node, ofNever }) => ({
      name: `CPU of a ${kind} tools/call that may become a task, of one that may not, Node ${node}`,
      atMost: MOST_COST,
      figure: ofNever.cpuUs.median
    }))
  ))]
}
