// What state costs: updates through handles, calls of a tool that keeps state beside one that keeps none, and what a
// question to the client carries.

import { startBackends } from './backends.mjs'
import { createBasket, countChanges, READING, searchRequest, STATELESS, UPDATING, writeBasketTools } from './basket-tools.mjs'
import { measureAlone } from './calls.mjs'
import { writeCatalog } from './catalog.mjs'
import { CONNECTIONS } from './load.mjs'
import { startTrivet } from './peers.mjs'
import { benchRequestStates } from './request-states.mjs'
import { ask } from './requests.mjs'
import { median, medianRatio } from './stats.mjs'
import { benchUpdates } from './updates.mjs'
import { workspacePath } from './workspace.mjs'

const TOOLS = 50
/** Of each connection, which shares none with another: a basket is one conversation's. */
const BASKETS_EACH = 8

/**
 * @param {{ main: string, rounds: number, seconds: number, warmUpSeconds: number }} options
 */
export async function benchState (options) {
  const { backends, leftOut, stop } = await startBackends()
  const updates = []
  const calls = []
  try {
    for (const backend of backends) updates.push(...await benchUpdates(options, backend))
    for (const backend of backends) calls.push(await benchStatefulCalls(options, backend))
  } finally {
    await stop()
  }
  return { updates, calls, requestStates: await benchRequestStates(options), leftOut }
}

async function benchStatefulCalls ({ main, rounds, seconds, warmUpSeconds }, { name: backend, addressOf }) {
  // Redis is a process, and lmdb writes in threads of its own.
  const sleeps = backend !== 'memory'
  const catalog = workspacePath('catalog')
  await writeCatalog(catalog, TOOLS)
  await writeBasketTools(catalog)
  const { url, pid, stop } = await startTrivet(main, catalog, { stateUrl: addressOf() })
  try {
    const basketIds = []
    while (basketIds.length < CONNECTIONS * BASKETS_EACH) basketIds.push(await createBasket(url))
    const contenders = []
    for (const name of [STATELESS, READING, UPDATING]) {
      const request = searchRequest(name, basketIds)
      contenders.push({ name, url, pid, request, bytes: Buffer.byteLength(await ask(url, request)), rounds: [] })
    }
    const [{ bytes }] = contenders
    if (contenders.some((contender) => contender.bytes !== bytes)) throw new Error('the tools\' answers are not of one size')
    const changesBefore = await countAll(url, basketIds)
    const warmUps = []
    for (const contender of contenders) warmUps.push(await measureAlone(contender, contender.request, { seconds: warmUpSeconds, sleeps }))
    for (let round = 0; round < rounds; round++) {
      for (const contender of contenders) contender.rounds.push(await measureAlone(contender, contender.request, { seconds, sleeps }))
    }
    const changes = await countAll(url, basketIds) - changesBefore
    refuseLostUpdates(changes, [warmUps.at(-1), ...contenders.at(-1).rounds])
    return { backend, bytes, baskets: basketIds.length, tools: contenders.map((contender) => summary(contender, contenders[0])) }
  } finally {
    await stop()
  }
}

async function countAll (url, basketIds) {
  let changes = 0
  for (const basketId of basketIds) changes += await countChanges(url, basketId)
  return changes
}

/** What was in flight when a measurement's time was up may have been made or not. */
function refuseLostUpdates (changes, measured) {
  // Each measurement is followed by one call.
  const answered = measured.reduce((sum, { answers }) => sum + answers + 1, 0)
  const inFlight = measured.length * CONNECTIONS
  if (changes >= answered && changes <= answered + inFlight) return
  throw new Error(`${answered} updates were answered and no more than ${inFlight} others were in flight, but ${changes} are kept`)
}

function summary ({ name, rounds }, stateless) {
  const figures = ({ rounds }, key) => rounds.map((round) => round[key])
  return {
    name,
    perSecond: median(figures({ rounds }, 'perSecond')),
    p50Ms: median(figures({ rounds }, 'p50Ms')),
    p99Ms: median(figures({ rounds }, 'p99Ms')),
    ofStateless: medianRatio(figures({ rounds }, 'perSecond'), figures(stateless, 'perSecond')),
    cpuUs: median(figures({ rounds }, 'cpuUs')),
    clientBusy: median(figures({ rounds }, 'clientBusy')),
    rounds
  }
}
