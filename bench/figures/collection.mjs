// Collects the turns of several starts. Each start has new processes.

import { joinStarts } from './stats.mjs'
import { summarise } from './summary.mjs'

const REFERENCES = { ofCeiling: ({ ceiling }) => ceiling, ofTrivet: ({ trivet }) => trivet }

/** @param {object[]} listed the contenders that may have turns */
export function createCollection (listed) {
  const starts = []
  const leftOut = new Map()
  return {
    /**
     * @param {object[]} contenders those that took turns in this start
     * @param {object[][]} figures for each, turn by turn
     */
    addStart: (contenders, figures) => starts.push(summarise(contenders, figures, REFERENCES)),
    leaveOut: ({ name, node, reason }) => leftOut.set(keyOf({ name, node }), { name, node, reason }),
    summary () {
      const servers = listed.flatMap((contender) => {
        const key = keyOf(contender)
        const summaries = starts.flat().filter((summary) => keyOf(summary) === key)
        return summaries.length === 0 ? [] : [joinSummaries(summaries)]
      })
      return { servers, leftOut: [...leftOut.values()] }
    }
  }
}

function keyOf ({ name, node }) {
  return `${name}, Node ${node}`
}

/** Joins the summaries of one contender. A ratio is missing where the start had no such reference. */
function joinSummaries (summaries) {
  const { name, node, differs, ...spreads } = summaries[0]
  const joined = Object.keys(spreads).map((key) => [key, joinMembers(summaries.map((one) => one[key]))])
  return { name, node, ...differs !== undefined && { differs }, ...Object.fromEntries(joined) }
}

/** Joins spreads, or the spreads of each key of a ratio. */
function joinMembers (members) {
  const complete = members.filter((member) => member !== undefined)
  if (complete.length === 0) return undefined
  if (Array.isArray(complete[0].turns)) return joinStarts(complete)
  return Object.fromEntries(Object.keys(complete[0]).map((key) => (
    [key, joinStarts(complete.map((member) => member[key]))]
  )))
}
