// The turns of contenders as medians with their spreads, and as ratios to the one that each is compared with.

import { ratios, spread } from './stats.mjs'

/**
 * @param {object[]} contenders with `name` and `node`
 * @param {object[][]} figures for each, turn by turn; `undefined` for a turn that was not taken
 * @param {Record<string, (contender: object) => string | undefined>} references by what a ratio is to be
 *   called, the name of the contender on the same Node that one is compared with
 * @returns {object[]} for each contender, a spread for each key of its figures, and under each reference's
 *   name those of the ratios
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

function spreads (turns) {
  return Object.fromEntries(keysOf(turns).map((key) => [key, spread(valuesOf(turns, key))]))
}

/** Pair by pair: each turn's figure by the other's of the same lap. */
function pairs (turns, others) {
  return Object.fromEntries(keysOf(turns).map((key) => (
    [key, ratios(valuesOf(turns, key), valuesOf(others, key))]
  )))
}

function keysOf (turns) {
  return Object.keys(turns.find((turn) => turn !== undefined))
}

function valuesOf (turns, key) {
  return turns.map((turn) => turn?.[key])
}
