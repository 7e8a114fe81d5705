// Statistics of a small number of figures.

/** Interpolates linearly between two neighbouring values. */
function quantile (sorted, share) {
  const place = (sorted.length - 1) * share
  const below = Math.floor(place)
  const above = Math.ceil(place)
  return sorted[below] + (sorted[above] - sorted[below]) * (place - below)
}

/**
 * @param {Float64Array} sorted in ascending order
 * @param {number} share such as 0.99
 */
export function percentile (sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]
}

/**
 * Summarises the figures of several turns. Other work on the machine can only raise the cost of a turn.
 * `quiet`, the lowest decile, is therefore the cost on a quiet machine.
 *
 * @param {(number | undefined)[]} values `undefined` for turns that were not taken
 * @returns {{ median: number, quartiles: [number, number], quiet: number, turns: (number | undefined)[] }}
 */
export function spread (values) {
  const sorted = Float64Array.from(values.filter((value) => value !== undefined)).sort()
  return {
    median: quantile(sorted, 0.5),
    quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.75)],
    quiet: quantile(sorted, 0.1),
    turns: values
  }
}

/**
 * Joins the spreads of several starts. Processes of the same code differ in speed: `median` is the median of
 * the starts' medians, which are in `starts`. `quiet` is the median of the starts' `quiet` figures.
 *
 * @param {object[]} spreads as `spread` and `ratios` return them, one for each start
 */
export function joinStarts (spreads) {
  const [first] = spreads
  if (spreads.length === 1) return first
  const starts = spreads.map(({ median }) => median)
  const { quartiles, turns } = spread(spreads.flatMap((start) => start.turns))
  const { median: quiet } = spread(spreads.map((start) => start.quiet))
  return { median: spread(starts).median, starts, quartiles, quiet, turns }
}

/** @returns {[number, number]} the ends of the range that a table or a picture shows beside the median */
export function endsOf ({ starts, quartiles }) {
  return starts === undefined ? quartiles : [Math.min(...starts), Math.max(...starts)]
}

/**
 * Divides each numerator by the denominator of the same lap, if both exist. `quiet` is the ratio of the two
 * `quiet` figures.
 */
export function ratios (numerators, denominators) {
  const quiet = spread(numerators).quiet / spread(denominators).quiet
  return { ...spread(numerators.map((value, lap) => divided(value, denominators[lap]))), quiet }
}

function divided (numerator, denominator) {
  return numerator === undefined || denominator === undefined ? undefined : numerator / denominator
}
