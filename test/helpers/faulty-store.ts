// A store as one replica has it: the replica is killed or paused at an operation, or loses the reply.

import { clock, timers } from '../../src/base/time.ts'
import { StoreUnavailable, type StateStore } from '../../src/platform/store/records/state-store.ts'

/**
 * `killed-before` and `killed-after`: the process ends before or after the effect of the operation. `lost`:
 * the reply is lost after the effect. `refused`: there is no effect. `paused`: the process stops after the
 * effect.
 */
export const FAULTS = ['killed-before', 'killed-after', 'lost', 'refused', 'paused'] as const
export type Fault = typeof FAULTS[number]

/** Never resolves. Each caller has a promise of its own: a shared one would hold all callers in memory. */
const waitForever = async () => await new Promise<never>(() => {})

export class FaultyStore {
  readonly store: StateStore
  /** While it is true, all operations are refused. */
  isAway = false
  isDead = false
  operations = 0
  readonly #pauseMs: number
  #plan: { readonly at: number, readonly fault: Fault } | undefined
  #pausedUntil = 0

  constructor (store: StateStore, pauseMs: number) {
    this.#pauseMs = pauseMs
    this.store = Object.fromEntries(Object.entries(store).map(([key, method]) => [
      key, async (...args: unknown[]) => await this.#operate(async () => await method(...args))
    ])) as unknown as StateStore
  }

  /** Lets the operation with this number, from now on, fail. */
  fail (at: number, fault: Fault): void { this.#plan = { at: this.operations + at, fault } }

  async #operate<T> (work: () => Promise<T>): Promise<T> {
    const fault = this.operations++ === this.#plan?.at ? this.#plan.fault : undefined
    await this.#untilAwake()
    if (fault === 'refused' || this.isAway) throw new StoreUnavailable(new Error('refused'))
    if (fault === 'killed-before') this.isDead = true
    if (this.isDead) return await waitForever()
    const outcome = await work()
    if (fault === 'killed-after') this.isDead = true
    if (fault === 'paused') this.#pausedUntil = clock.now() + this.#pauseMs
    await this.#untilAwake()
    if (this.isDead) return await waitForever()
    if (fault === 'lost') throw new StoreUnavailable(new Error('the reply was lost'))
    return outcome
  }

  async #untilAwake (): Promise<void> {
    if (this.#pausedUntil > clock.now()) await timers.pause(this.#pausedUntil - clock.now())
  }
}
