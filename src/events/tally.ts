/** Sums by key. */
export interface Tally {
  /** The sum of a key: 0 if nothing was added. */
  of (key: string): number
  add (key: string, amount: number): void
  subtract (key: string, amount: number): void
  /** How many keys have a sum other than 0. The others take no memory. */
  readonly size: number
}

export function createTally (): Tally {
  const sums = new Map<string, number>()
  const of = (key: string) => sums.get(key) ?? 0
  const set = (key: string, sum: number) => {
    if (sum === 0) sums.delete(key)
    else sums.set(key, sum)
  }
  return {
    of,
    add (key, amount) { set(key, of(key) + amount) },
    subtract (key, amount) { set(key, of(key) - amount) },
    get size () { return sums.size }
  }
}
