// Measures the extra cost of a question to the client: the request state is sealed, and is opened again.

import { importInner } from './inner-modules.mjs'
import { spread } from '../figures/stats.mjs'

const SECRET = 'sealed for the length of a benchmark'
const BATCH = 100
const ORDER = '[{"number":"2026-000117","totalCents":12950,"placedAt":"2026-01-01T12:00:00.000Z"}]'
const NOTE = 'Ring twice and leave the trivets with the neighbours across the hall if nobody is at home. '

/**
 * @param {{ main: string, rounds: number, seconds: number, warmUpSeconds: number }} options
 */
export async function measureRequestStates ({ main, rounds, seconds, warmUpSeconds }) {
  const { createSealer } = await importInner(main, 'platform/store/sealing/sealer')
  const state = await importInner(main, 'request/questions/request-state')
  const { openState, sealState, toBindingText, toStateBytes } = state
  const sealer = createSealer([SECRET])
  const args = { basketId: 'bsk_0123456789abcdefghijkl' }
  const bound = toBindingText({ owner: 'anonymous', method: 'tools/call', name: 'place_order', args })
  const carried = {
    answers: new Map([
      ['size', '{"action":"accept","content":{"size":"large"}}'],
      ['address', JSON.stringify({ action: 'accept', content: { note: NOTE } })]
    ]),
    results: new Map([['order', ORDER]])
  }
  const expiresAt = Date.now() + 3_600_000
  const seal = () => sealState(sealer, bound, toStateBytes(carried), expiresAt)
  const token = seal()
  const open = () => openState(sealer, bound, token)
  if (open().answers.get('address') !== carried.answers.get('address')) {
    throw new Error('what was sealed does not open')
  }
  const operations = { seal, open }
  const measured = { seal: [], open: [] }
  for (const act of Object.values(operations)) perSecond(act, warmUpSeconds)
  for (let round = 0; round < rounds; round++) {
    for (const [name, act] of Object.entries(operations)) measured[name].push(perSecond(act, seconds))
  }
  return {
    bytes: toStateBytes(carried).length,
    tokenBytes: token.length,
    sealsPerSecond: spread(measured.seal),
    opensPerSecond: spread(measured.open)
  }
}

function perSecond (act, seconds) {
  const startedAt = performance.now()
  const endsAt = startedAt + seconds * 1000
  let times = 0
  for (; performance.now() < endsAt; times += BATCH) {
    for (let i = 0; i < BATCH; i++) act()
  }
  return times / (performance.now() - startedAt) * 1000
}
