// Values that one load makes, and the next load may use again.

/** Keeps values by key. A value that a load does not use is not there for the load after it. */
export class Generations<V> {
  #earlier = new Map<string, V>()
  #current = new Map<string, V>()

  /** Returns the value of this load or of the load before, and keeps it for the next load. */
  get (key: string): V | undefined {
    const value = this.#current.get(key) ?? this.#earlier.get(key)
    if (value !== undefined) this.#current.set(key, value)
    return value
  }

  /** Keeps a value, and returns it. */
  set (key: string, value: V): V {
    this.#current.set(key, value)
    return value
  }

  /** Ends a load: drops the values that were not used since the last call. */
  forgetUnused (): void {
    this.#earlier = this.#current
    this.#current = new Map()
  }
}
