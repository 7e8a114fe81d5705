// Sums over few figures.

/** Between two values it lies on the line from the one to the other. */
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
 * The figures of several turns as one. What else the machine does can only make a turn dearer: the lowest
 * decile is what it costs while the machine is quiet.
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
 * Each turn's figure by the other's figure of the same lap, where both had one. `quiet`: the one's by the
 * other's.
 */
export function ratios (numerators, denominators) {
  const quiet = spread(numerators).quiet / spread(denominators).quiet
  return { ...spread(numerators.map((value, lap) => divided(value, denominators[lap]))), quiet }
}

function divided (numerator, denominator) {
  return numerator === undefined || denominator === undefined ? undefined : numerator / denominator
}
