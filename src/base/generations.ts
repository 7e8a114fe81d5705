// Values that one load makes, and the next load may use again.

interface MadeValue<V> { readonly state: string | undefined, readonly value: V }

/** Keeps values by key. A load keeps what it uses, and drops the rest when it ends. */
export class Generations<V> {
  #earlier = new Map<string, MadeValue<V>>()
  #current = new Map<string, MadeValue<V>>()

  /**
   * Returns the value of this load or of the load before, and keeps it for the next load.
   * @param state that the value must have been made of, such as the stamp of a file.
   */
  get (key: string, state?: string): V | undefined {
    const entry = this.#current.get(key) ?? this.#earlier.get(key)
    if (entry === undefined || entry.state !== state) return undefined
    this.#current.set(key, entry)
    return entry.value
  }

  /** Keeps a value, and returns it. */
  set (key: string, value: V, state?: string): V {
    this.#current.set(key, { state, value })
    return value
  }

  /** Ends a load. */
  forgetUnused (): void {
    this.#earlier = this.#current
    this.#current = new Map()
  }
}
