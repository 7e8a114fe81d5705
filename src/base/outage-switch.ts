// Stops the requests to a server that fails.

interface OutageSwitchOptions {
  /** After this many failures in a row the switch is off. */
  readonly failures: number
  /** How long the server is not asked then, in milliseconds. */
  readonly cooldownMs: number
  readonly now: () => number
}

/** One time in which the server is not asked. */
interface Outage {
  /** The requests that find out whether the server is back. */
  probes: number
  until: number
  /** Whose probe was the last that prolonged it. */
  prolongedBy?: unknown
}

export class OutageSwitch {
  readonly #options: OutageSwitchOptions
  /** What the failures since the last answer were about. */
  readonly #sources = new Set<unknown>()
  #outage: Outage | undefined
  #error: unknown

  constructor (options: OutageSwitchOptions) {
    this.#options = options
  }

  /** The last error, while the server is not asked. After the cooldown one request at a time may ask. */
  get error (): unknown {
    const outage = this.#outage
    if (outage === undefined) return undefined
    return this.#options.now() < outage.until || outage.probes > 0 ? this.#error : undefined
  }

  /**
   * Counts a request that asks. Call the returned function once, when it has ended and was told of with `add`
   * or `reset`. Requests that began before the outage take nobody's turn, however long they run.
   */
  begin (): () => void {
    const outage = this.#outage
    if (outage === undefined) return () => {}
    outage.probes++
    return () => { outage.probes-- }
  }

  /** @param source failures of one source count as one. By default each counts. */
  add (error: unknown, source: unknown = {}): void {
    const { failures, cooldownMs, now } = this.#options
    this.#error = error
    if (this.#outage === undefined) {
      this.#sources.add(source)
      if (this.#sources.size >= failures) this.#outage = { probes: 0, until: now() + cooldownMs }
    } else if (this.#outage.probes > 0 && this.#outage.prolongedBy !== source) {
      // Without a probe, a request ends late that began before the outage. A source whose probe has failed
      // leaves the next probe to others.
      this.#outage.until = now() + cooldownMs
      this.#outage.prolongedBy = source
    }
  }

  /** The server has answered. */
  reset (): void {
    this.#sources.clear()
    this.#outage = undefined
  }
}
