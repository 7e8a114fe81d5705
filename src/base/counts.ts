/** Sums by key. Nothing is counted under a key of `undefined`. */
export interface Counts {
  /** The sum of a key: 0 if nothing was added. */
  of (key: string | undefined): number
  /** Returns a function that subtracts the amount again. Call it once. */
  add (key: string | undefined, amount: number): () => void
  /** How many keys have a sum other than 0. The others take no memory. */
  readonly size: number
}

export function createCounts (): Counts {
  const sums = new Map<string | undefined, number>()
  const of = (key: string | undefined) => sums.get(key) ?? 0
  const change = (key: string | undefined, amount: number) => {
    const sum = of(key) + amount
    if (sum === 0 || key === undefined) sums.delete(key)
    else sums.set(key, sum)
  }
  return {
    of,
    add (key, amount) {
      change(key, amount)
      return () => change(key, -amount)
    },
    get size () { return sums.size }
  }
}
