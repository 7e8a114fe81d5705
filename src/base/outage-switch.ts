// Stops the requests to a server that fails.

interface OutageSwitchOptions {
  /** After this many failures in a row the switch is off. */
  readonly failures: number
  /** How long the server is not asked then, in milliseconds. */
  readonly cooldownMs: number
  readonly now: () => number
}

export class OutageSwitch {
  readonly #options: OutageSwitchOptions
  /** What the failures since the last answer were about. */
  readonly #sources = new Set<unknown>()
  #asking = 0
  #error: unknown
  #until = -Infinity

  constructor (options: OutageSwitchOptions) {
    this.#options = options
  }

  /** The last error, while the server is not asked. After the cooldown one request at a time may ask. */
  get error (): unknown {
    const { failures, now } = this.#options
    if (this.#sources.size < failures) return undefined
    return now() < this.#until || this.#asking > 0 ? this.#error : undefined
  }

  /** Counts a request that asks. Call the returned function once, when it has ended. */
  begin (): () => void {
    this.#asking++
    return () => { this.#asking-- }
  }

  /** @param source failures of one source count as one. By default each counts. */
  add (error: unknown, source: unknown = {}): void {
    const { failures, cooldownMs, now } = this.#options
    if (this.#sources.size < failures) this.#sources.add(source)
    this.#error = error
    this.#until = now() + cooldownMs
  }

  /** The server has answered. */
  reset (): void {
    this.#sources.clear()
  }
}
