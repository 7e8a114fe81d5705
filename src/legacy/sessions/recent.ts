import { timers } from '../../base/time.ts'

/** A map of recently used entries. Unused entries are dropped, so the memory that it takes is bounded. */
interface Recent<K, V> {
  get (key: K): V | undefined
  set (key: K, value: V): void
  delete (key: K): void
  clear (): void
  readonly size: number
  close (): void
}

interface RecentOptions {
  /** The size of one generation. At most twice as many entries are kept. */
  readonly max: number
  /** An unused entry is dropped within twice this time, in milliseconds. */
  readonly idleMs: number
}

/** Entries are in two generations: each use moves an entry to the younger; the older is dropped whole. */
export function createRecent<K, V> ({ max, idleMs }: RecentOptions): Recent<K, V> {
  let young = new Map<K, V>()
  let old = new Map<K, V>()
  const age = () => {
    old = young
    young = new Map()
  }
  const timer = timers.setInterval(age, idleMs).unref()
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
    close () { timers.clear(timer) }
  }
}
