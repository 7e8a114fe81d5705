// Sums over few figures.

export function median (values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/**
 * @param {Float64Array} sorted in ascending order
 * @param {number} share such as 0.99
 */
export function percentile (sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]
}

/** The median of what each pair of figures of one round comes to. */
export function medianRatio (numerators, denominators) {
  return median(numerators.map((value, round) => value / denominators[round]))
}
