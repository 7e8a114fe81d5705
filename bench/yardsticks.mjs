// What Trivet has to reach, and whether it did.

import { UPDATING } from './basket-tools.mjs'
import { TRIVET } from './peers.mjs'
import { LEGACY_REVISION } from './requests.mjs'

const AT = 50

/** Each `figure` is `undefined` where the run has not measured it. */
const YARDSTICKS = [
  { name: `tools/list of bare Fastify, ${AT} tools`, atLeast: 0.85, figure: (results) => trivet(results, 'tools/list')?.ofCeiling },
  { name: `tools/call of bare Fastify, ${AT} tools`, atLeast: 0.80, figure: (results) => trivet(results, 'tools/call')?.ofCeiling },
  { name: `tools/call of bare Fastify that makes its answers, ${AT} tools`, atLeast: 0.80, figure: (results) => trivet(results, 'tools/call')?.ofMakingCeiling },
  { name: `tools/list, times the SDK as documented, ${AT} tools`, atLeast: 50, figure: (results) => trivet(results, 'tools/list')?.timesSdk },
  { name: `tools/call, times the SDK as documented, ${AT} tools`, atLeast: 50, figure: (results) => trivet(results, 'tools/call')?.timesSdk },
  ...['tools/list', 'tools/call', 'prompts/get', 'resources/read'].map((method) => (
    { name: `${method}, p99 of bare Fastify's, ${AT} tools`, atMost: 2, figure: (results) => trivet(results, method)?.p99OfCeiling }
  )),
  { name: 'tools/call with 5,000 tools of itself with 5', atLeast: 0.95, figure: ({ growth }) => growth?.ratio },
  { name: `tools/call in a session at ${LEGACY_REVISION} of one without, ${AT} tools`, atLeast: 0.9, figure: (results) => inSession(results, 'tools/call')?.ofModern },
  { name: 'start-up with 5,000 tools, seconds', atMost: 5, figure: ({ startup }) => startup && startup.ms / 1000 },
  { name: 'memory of 2,000 streams of bare node:http\'s', atMost: 1.5, figure: ({ streams }) => streams?.memory?.ratio },
  { name: 'one change to 2,000 streams of bare node:http\'s time', atMost: 2, figure: ({ streams }) => streams?.fanOut.ratio },
  ...Object.entries({ memory: 0.8, lmdb: 0.3, Redis: 0.3 }).map(([backend, atLeast]) => (
    { name: `tools/call that updates state of one without, ${backend}`, atLeast, figure: (results) => updating(results, backend)?.ofStateless }
  ))
]

/** @returns {{ name: string, target: string, figure: number | undefined, verdict: 'met' | 'missed' | 'not measured' }[]} */
export function judge (results) {
  return YARDSTICKS.map(({ name, atLeast, atMost, figure: figureOf }) => {
    const figure = figureOf(results)
    return { name, target: atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`, figure, verdict: verdict(figure, atLeast, atMost) }
  })
}

function verdict (figure, atLeast = -Infinity, atMost = Infinity) {
  if (figure === undefined) return 'not measured'
  return figure >= atLeast && figure <= atMost ? 'met' : 'missed'
}

function trivet ({ calls = [] }, method) {
  const row = calls.find((row) => row.tools === AT && row.method === method)
  return row?.peers.find(({ name }) => name === TRIVET)
}

function inSession ({ legacy }, method) {
  const row = legacy?.find((row) => row.method === method)
  return row?.revisions.find(({ revision }) => revision === LEGACY_REVISION)
}

function updating ({ state }, backend) {
  const row = state?.calls.find((row) => row.backend === backend)
  return row?.tools.find(({ name }) => name === UPDATING)
}
