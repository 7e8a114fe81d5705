// Collects the turns of several starts. Each start has new processes.

import { summarise } from './summary.mjs'

const REFERENCES = { ofCeiling: ({ ceiling }) => ceiling, ofTrivet: ({ trivet }) => trivet }

/** @param {object[]} listed the contenders that may have turns */
export function createCollection (listed) {
  const keyOf = ({ name, node }) => `${name}, Node ${node}`
  const figures = new Map(listed.map((contender) => [keyOf(contender), []]))
  const leftOut = new Map()
  return {
    add: (contender, turns) => figures.get(keyOf(contender)).push(...turns),
    leaveOut: ({ name, node, reason }) => leftOut.set(keyOf({ name, node }), { name, node, reason }),
    summary () {
      const complete = listed.filter((contender) => figures.get(keyOf(contender)).length > 0)
      const turns = complete.map((contender) => figures.get(keyOf(contender)))
      return { servers: summarise(complete, turns, REFERENCES), leftOut: [...leftOut.values()] }
    }
  }
}
