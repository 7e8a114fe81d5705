/**
 * Keeps what was used lately, and lets go of the rest by itself: the memory that it takes does not grow with
 * what there is.
 */
export interface Recent<K, V> {
  get (key: K): V | undefined
  set (key: K, value: V): void
  delete (key: K): void
  clear (): void
  readonly size: number
  close (): void
}

export interface RecentOptions {
  /** At most twice as many are kept. */
  readonly max: number
  /**
   * What has not been used for as long, in milliseconds, is let go of before the same time has passed again.
   */
  readonly idleMs: number
}

/** Two generations: what is used moves to the younger, and the older is dropped whole. */
export function createRecent<K, V> ({ max, idleMs }: RecentOptions): Recent<K, V> {
  let young = new Map<K, V>()
  let old = new Map<K, V>()
  const age = () => {
    old = young
    young = new Map()
  }
  const timer = setInterval(age, idleMs).unref()
  const set = (key: K, value: V) => {
    if (young.size >= max) age()
    young.set(key, value)
  }
  return {
    get (key) {
      const found = young.get(key)
      if (found !== undefined) return found
      const aged = old.get(key)
      if (aged !== undefined) {
        old.delete(key)
        set(key, aged)
      }
      return aged
    },
    set,
    delete (key) {
      young.delete(key)
      old.delete(key)
    },
    clear () {
      young.clear()
      old.clear()
    },
    get size () { return young.size + old.size },
    close () { clearInterval(timer) }
  }
}
