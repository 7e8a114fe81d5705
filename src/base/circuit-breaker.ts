// Stops the requests to a server that fails. Each request is for a holder: no holder can open the circuit for
// the others, or keep it open.

import { LRUCache } from 'lru-cache'

export interface CircuitBreakerOptions {
  /** How many failures in a row open the circuit. */
  readonly failures: number
  /** How long nobody asks then, and how long a holder waits between two probes, in milliseconds. */
  readonly cooldownMs: number
  readonly now: () => number
  /** How many holders are remembered. 1000 by default. */
  readonly maxHolders?: number
}

export interface Failure {
  readonly error: unknown
  /** The witness of the failure. Holders that are easy to have many of may be one witness together. */
  readonly witness: string
  /** How many failures of the witness count at most. Below `failures` no witness opens the circuit alone. */
  readonly most: number
  /** Whether the failure also counts for the holder's own circuit, which stops nobody else. */
  readonly isOwn: boolean
}

/** How many probes run at once. */
const MAX_PROBES = 5
/** The part of the cooldown after which a probe that hangs gives up its place. */
const PROBE_PART = 5

const ignore = (): void => {}

export class CircuitBreaker {
  readonly #options: Required<CircuitBreakerOptions>
  /** The failures since the last answer, by witness. */
  readonly #counts = new Map<string, number>()
  readonly #ownCircuits: LRUCache<string, OwnCircuit>
  #outage: Outage | undefined

  constructor (options: CircuitBreakerOptions) {
    this.#options = { maxHolders: 1000, ...options }
    this.#ownCircuits = new LRUCache({ max: this.#options.maxHolders })
  }

  /** Whether no failure is remembered: nobody is refused, and an answer is no news. */
  get isQuiet (): boolean {
    return this.#outage === undefined && this.#counts.size === 0 && this.#ownCircuits.size === 0
  }

  /** How many holders and witnesses are remembered. */
  get size (): number {
    return this.#counts.size + this.#ownCircuits.size + (this.#outage?.size ?? 0)
  }

  /** Returns the last error, while requests of the holder are not sent. */
  findRefusal (holder: string): unknown {
    const now = this.#options.now()
    return this.#outage?.findRefusal(holder, now) ??
      this.#ownCircuits.get(holder)?.outage?.findRefusal(holder, now)
  }

  /**
   * Counts a request that is sent. While the circuit is open it is a probe. Call the returned function once,
   * when the request has ended.
   */
  begin (holder: string): () => void {
    const now = this.#options.now()
    const endOwn = this.#ownCircuits.get(holder)?.outage?.begin(holder, now)
    const end = this.#outage?.begin(holder, now)
    if (endOwn === undefined) return end ?? ignore
    return () => {
      endOwn()
      end?.()
    }
  }

  /** A probe that fails prolongs nothing: its holder waits, and other holders take their own turns. */
  fail (holder: string, { error, witness, most: maxCount, isOwn }: Failure): void {
    if (isOwn) this.#failOwn(holder, error)
    if (this.#outage !== undefined) {
      this.#outage.error = error
      return
    }
    const count = this.#counts.get(witness) ?? 0
    if (count < maxCount) this.#counts.set(witness, count + 1)
    const sum = [...this.#counts.values()].reduce((total, count) => total + count, 0)
    if (sum < this.#options.failures) return
    this.#outage = new Outage(error, this.#options)
    this.#counts.clear()
  }

  /** The server has answered the holder: it is back for all. */
  succeed (holder: string): void {
    this.#counts.clear()
    this.#outage = undefined
    this.#ownCircuits.delete(holder)
  }

  /** Forgets all failures. */
  reset (): void {
    this.#counts.clear()
    this.#outage = undefined
    this.#ownCircuits.clear()
  }

  #failOwn (holder: string, error: unknown): void {
    const circuit: OwnCircuit = this.#ownCircuits.get(holder) ?? { failures: 0, outage: undefined }
    this.#ownCircuits.set(holder, circuit)
    circuit.failures++
    if (circuit.outage !== undefined) circuit.outage.error = error
    else if (circuit.failures >= this.#options.failures) circuit.outage = new Outage(error, this.#options)
  }
}

/** The failures in a row of one holder. */
interface OwnCircuit {
  failures: number
  outage: Outage | undefined
}

/** The time from the opening of a circuit to the next answer. */
class Outage {
  error: unknown
  readonly #options: Required<CircuitBreakerOptions>
  /** The end of the time in which nobody asks. */
  readonly #until: number
  /** The time from which each holder may probe again. The earliest is the first. */
  readonly #turns = new Map<string, number>()
  /** The probes that run, with the times at which they give up their places. */
  readonly #probes = new Set<{ readonly until: number }>()

  constructor (error: unknown, options: Required<CircuitBreakerOptions>) {
    this.error = error
    this.#options = options
    this.#until = options.now() + options.cooldownMs
  }

  get size (): number { return this.#turns.size }

  findRefusal (holder: string, now: number): unknown {
    const isTurn = now >= this.#until && now >= (this.#turns.get(holder) ?? -Infinity)
    return isTurn && this.#hasPlace(now) ? undefined : this.error
  }

  begin (holder: string, now: number): () => void {
    const { cooldownMs, maxHolders } = this.#options
    this.#turns.delete(holder)
    for (const [waiter, from] of this.#turns) {
      if (from > now && this.#turns.size < maxHolders) break
      this.#turns.delete(waiter)
    }
    this.#turns.set(holder, now + cooldownMs)
    const probe = { until: now + cooldownMs / PROBE_PART }
    this.#probes.add(probe)
    return () => { this.#probes.delete(probe) }
  }

  #hasPlace (now: number): boolean {
    for (const probe of this.#probes) if (probe.until <= now) this.#probes.delete(probe)
    return this.#probes.size < MAX_PROBES
  }
}
