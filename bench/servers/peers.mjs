// Others of the field: those of bench/peers that are installed there.

/** @returns {object[]} contenders without those that all have in common */
export function peers () {
  return []
}
