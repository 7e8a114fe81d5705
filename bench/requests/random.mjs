// Pseudo-random numbers that are the same in every run.

/** @returns {(below: number) => number} returns an integer from 0 to `below - 1` */
export function createRandom (seed) {
  let state = seed >>> 0
  return (below) => {
    // Mulberry32, by Tommy Ettinger.
    state = (state + 0x6D2B79F5) | 0
    let mixed = Math.imul(state ^ state >>> 15, 1 | state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) % below
  }
}
