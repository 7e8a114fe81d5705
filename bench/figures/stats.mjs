// Sums over few figures.

export function median (values) {
  return quantile(Float64Array.from(values).sort(), 0.5)
}

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
 * The figures of several rounds as one.
 *
 * @param {number[]} values
 * @returns {{ median: number, min: number, max: number, rounds: number[] }}
 */
export function spread (values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values), rounds: values }
}

/** Each round's figure by the other's figure of the same round. */
export function ratios (numerators, denominators) {
  return spread(numerators.map((value, round) => value / denominators[round]))
}
