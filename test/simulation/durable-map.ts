// A map on a primary and a standby, as Redis has it. While the two are split, writes reach only the primary.

export class DurableMap<V> {
  #primary = new Map<string, V>()
  #standby = new Map<string, V>()
  #isSplit = false

  get (key: string): V | undefined { return this.#primary.get(key) }
  /** The value that a failover would not lose. */
  getDurable (key: string): V | undefined { return this.#standby.get(key) }
  entries (): Iterable<readonly [string, V]> { return this.#primary }
  durableEntries (): Iterable<readonly [string, V]> { return this.#standby }
  isDurable (key: string): boolean { return this.#primary.get(key) === this.#standby.get(key) }

  /** A value is replaced, and never changed. */
  set (key: string, value: V): void {
    this.#primary.set(key, value)
    if (!this.#isSplit) this.#standby.set(key, value)
  }

  delete (key: string): boolean {
    if (!this.#isSplit) this.#standby.delete(key)
    return this.#primary.delete(key)
  }

  split (): void { this.#isSplit = true }

  heal (): void {
    if (this.#isSplit) this.#standby = new Map(this.#primary)
    this.#isSplit = false
  }

  /** The standby becomes the primary: what it has not got is lost. */
  failOver (): void {
    if (this.#isSplit) this.#primary = new Map(this.#standby)
    this.#isSplit = false
  }
}
