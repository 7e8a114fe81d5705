// Summarises the turns of contenders as medians with spreads, and as ratios to the contender that each is
// compared with.

import { ratios, spread } from './stats.mjs'

/**
 * @param {object[]} contenders with `name` and `node`
 * @param {object[][]} figures for each, turn by turn; `undefined` for a turn that was not taken
 * @param {Record<string, (contender: object) => string | undefined>} references by name of a ratio, a
 *   function that returns the name of the contender on the same Node that this contender is compared with
 * @returns {object[]} for each contender, a spread for each key of its figures, and under the name of each
 *   ratio the spreads of that ratio
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

/** Divides the figures of each turn by the other contender's figures of the same lap. */
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
