// The rounds of contenders as medians with their spreads, and as ratios to the one that each is compared with.

import { ratios, spread } from './stats.mjs'

/**
 * @param {object[]} contenders with `name` and `node`
 * @param {object[][]} figures for each, round by round
 * @param {Record<string, (contender: object) => string | undefined>} references by what a ratio is to be called, the name of
 *   the contender on the same Node that one is compared with
 * @returns {object[]} for each contender, a spread for each key of its figures, and under each reference's name those of the
 *   ratios
 */
export function summarise (contenders, figures, references = {}) {
  return contenders.map((contender, index) => ({
    name: contender.name,
    node: contender.node,
    ...contender.differs !== undefined && { differs: contender.differs },
    ...spreads(figures[index]),
    ...Object.fromEntries(Object.entries(references).map(([title, referenceOf]) => {
      const name = referenceOf(contender)
      const at = contenders.findIndex((other) => other.name === name && other.node === contender.node)
      return [title, at === -1 ? undefined : pairs(figures[index], figures[at])]
    }))
  }))
}

function spreads (rounds) {
  return Object.fromEntries(Object.keys(rounds[0]).map((key) => [key, spread(rounds.map((round) => round[key]))]))
}

/** Pair by pair: each round's figure by the other's of the same round. */
function pairs (rounds, others) {
  const values = (from, key) => from.map((round) => round[key])
  return Object.fromEntries(Object.keys(rounds[0]).map((key) => [key, ratios(values(rounds, key), values(others, key))]))
}
