// Measures updates through handles in this process: updates of many handles, and updates of one handle.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { openStore } from './backends.mjs'
import { importInner } from './inner-modules.mjs'
import { BASKET, changeBasket, FIRST_COUNT, newBasket } from './baskets.mjs'
import { percentile, spread } from '../figures/stats.mjs'

export const IN_FLIGHT = 32
/** The numbers of handles that are updated. */
const SPREADS = [1000, 1]

/**
 * @param {{ main: string, rounds: number, seconds: number, warmUpSeconds: number }} options
 * @param {{ name: string, addressOf: () => string }} backend
 */
export async function measureUpdates ({ main, rounds, seconds, warmUpSeconds }, { name, addressOf }) {
  const store = await openStore(main, addressOf())
  try {
    const handles = await openHandles(main, store)
    const rows = []
    for (const count of SPREADS) {
      const measure = await startUpdating(main, handles, count)
      await measure(warmUpSeconds)
      const measured = []
      for (let round = 0; round < rounds; round++) measured.push(await measure(seconds))
      const figure = (key) => spread(measured.map((one) => one[key]))
      const [perSecond, p50Ms, p99Ms, refused] = ['perSecond', 'p50Ms', 'p99Ms', 'refused'].map(figure)
      rows.push({ backend: name, handles: count, perSecond, p50Ms, p99Ms, refused })
    }
    return rows
  } finally {
    await store.close()
  }
}

async function openHandles (main, store) {
  const { ANONYMOUS } = await importInner(main, 'platform/access/principal')
  const { createSchemaCompiler } = await importInner(main, 'platform/schema/json-schema')
  const { createHandles } = await importInner(main, 'platform/store/records/handles')
  const checkValue = createSchemaCompiler({ useDefaults: true }).compile(BASKET.schema)
  const unlimited = { maxAgeMs: undefined, maxBytes: 65_536, createdBy: undefined }
  const kind = { ...BASKET, ...unlimited, checkValue, mayChangeValue: false }
  // Each update that waits gets its own signal, as each request has its own.
  const handles = createHandles(store, { maxPerOwner: 10_000 })
  return handles.open(kind, { principal: ANONYMOUS }, () => new AbortController().signal)
}

/** @returns a function that measures updates for some seconds, and throws if one was lost or made twice */
async function startUpdating (main, handles, count) {
  const { isToolError } = await importInner(main, 'platform/author/tool-error')
  const ids = []
  for (let i = 0; i < count; i++) ids.push((await handles.create(newBasket())).id)
  let next = 0
  let updates = 0

  /** Returns whether the update was made. An update is refused if other updates were faster too often. */
  async function update () {
    try {
      await handles.update(ids[next++ % count], changeBasket)
      updates++
      return true
    } catch (error) {
      if (!isToolError(error) || error.cause !== undefined) throw error
      return false
    }
  }

  return async (seconds) => {
    const figures = await keepInFlight(update, seconds)
    let counted = 0
    for (const id of ids) counted += (await handles.read(id)).changes - FIRST_COUNT
    if (counted === updates) return figures
    throw new Error(`${updates} updates of ${count} handles were acknowledged, ${counted} are kept`)
  }
}

async function keepInFlight (act, seconds) {
  const latencies = []
  let refused = 0
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1000
  await Promise.all(Array.from({ length: IN_FLIGHT }, async () => {
    while (performance.now() < endsAt) {
      // Each update has its own turn of the event loop, as a request has. Otherwise a store that never waits
      // would leave no turn to other work.
      await nextTurn()
      const begunAt = performance.now()
      if (await act()) latencies.push(performance.now() - begunAt)
      else refused++
    }
  }))
  const elapsedMs = performance.now() - startedAt
  const sorted = Float64Array.from(latencies).sort()
  return {
    perSecond: latencies.length / elapsedMs * 1000,
    p50Ms: percentile(sorted, 0.50),
    p99Ms: percentile(sorted, 0.99),
    refused
  }
}
