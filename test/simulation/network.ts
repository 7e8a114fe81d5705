// What lies between the replicas and the simulated state: delays, lost requests, lost replies, and replicas
// that end or stop in the middle of an operation.

import type { CallCounter } from '../../src/platform/limits/call-counter.ts'
import type { DueTimes, TakenEntries } from '../../src/platform/store/records/due-times.ts'
import { StoreUnavailable, type StateStore } from '../../src/platform/store/records/state-store.ts'
import type { SeededRandom } from './random.ts'
import type { Outcome, SimulatedState } from './state.ts'
import type { Process, World } from './world.ts'

/**
 * How often an operation meets a fault, from 0 to 1. `lost`: its reply is lost. `refused`: it has no effect.
 * `late`: it has failed for the replica, and has its effect later. `killed` and `paused`: the replica.
 */
const FAULTS = ['lost', 'refused', 'late', 'killed', 'paused'] as const
export type FaultRates = { readonly [K in typeof FAULTS[number]]: number }
export const NO_FAULTS: FaultRates = { lost: 0, refused: 0, late: 0, killed: 0, paused: 0 }

/** The operations of the state, by the words that the trace has for them. */
export const OPERATIONS = ['create', 'read', 'replace', 'confirm', 'delete', 'due', 'take'] as const

/** What happens to a replica at a moment that chance seldom meets: between an operation and its reply. */
export interface Snag {
  readonly on: typeof OPERATIONS[number]
  /** Which of these operations, counted over all replicas. */
  readonly nth: number
  /** How long the replica is paused. */
  readonly pauseMs: number
  /** What happens to it next, how long after the pause, and for how long. */
  readonly next: 'nothing' | 'kill' | 'cut'
  readonly afterMs: number
  readonly forMs: number
}

/** Within this time an operation fails whose reply is lost, in milliseconds. */
const TIMEOUT_MS = 1000
const MAX_LATE_MS = 3000
const MAX_DELAY_MS = 300
const MAX_PAUSE_MS = 40_000

/** One replica, as the network sees it. */
export interface Node {
  readonly process: Process
  /** Until when nothing reaches the state and the other replicas, in milliseconds of the world. */
  cutUntil: number
  /** Ends the process at once. It starts again. */
  kill (why: string, downMs?: number): void
  pause (ms: number): void
  cut (ms: number): void
}

export class Network {
  readonly #world: World
  readonly #random: SeededRandom
  /** The process that the state runs in. */
  readonly #host: Process
  readonly state: SimulatedState
  rates: FaultRates
  /** How long a message usually takes at most, in milliseconds. */
  delayMs = 4
  /** Until when the state answers nobody. */
  awayUntil = 0
  /** Since when it has answered nobody. */
  awayAt = 0
  /** What is still to happen. */
  snags: readonly Snag[] = []
  readonly #counts = new Map<string, number>()
  /** When the primary and the standby were last apart. */
  splitAt = 0

  constructor (world: World, state: SimulatedState, random: SeededRandom, rates: FaultRates) {
    this.#world = world
    this.#random = random
    this.#host = world.createProcess('store')
    this.state = state
    this.rates = rates
  }

  /** The store of one replica. */
  openStore (node: Node): StateStore {
    const { state } = this
    const call = this.#callOf(node)
    return {
      create: async (...args) => await call(`create ${nameOf(args[0])}`, () => state.create(node.process, ...args)),
      read: async (key) => await call(`read ${nameOf(key)}`, () => state.read(key)),
      peek: async (key) => await call(`peek ${nameOf(key)}`, () => state.peek(key)),
      replace: async (...args) => await call(`replace ${nameOf(args[0])}`, () => state.replace(...args)),
      confirm: async (...args) => await call(`confirm ${nameOf(args[0])}`, () => state.confirm(...args)),
      delete: async (key) => await call(`delete ${nameOf(key)}`, () => state.delete(key)),
      list: async (owner) => await call('list', () => state.list(owner)),
      async check () {},
      async close () {}
    }
  }

  openDueTimes (node: Node): DueTimes {
    const { state } = this
    const call = this.#callOf(node)
    return {
      set: async (...args) => await call(
        `due ${args[0].slice(-8)} ${Math.round(args[1])} ${args[2]}`, () => state.setDue(...args)
      ),
      remove: async (entry) => await call(`due ${entry.slice(-8)} never`, () => state.removeDue(entry)),
      take: async (...args) => await call('take', () => state.take(...args)),
      peek: async (...args) => await call('peek due', () => state.peekDue(...args)),
      list: async () => await call('list due', () => state.listDue())
    }
  }

  /** Counts the calls of all replicas. A replica that is cut off counts alone, as with Redis. */
  openCallCounter (): CallCounter { return this.state.callCounter }

  #callOf (node: Node) {
    return async <T>(what: string, operate: () => Outcome<T> | Promise<Outcome<T>>): Promise<T> => (
      await new Promise<T>((resolve, reject) => this.#call(node, what, operate, resolve, reject))
    )
  }

  #call<T> (
    node: Node, what: string, operate: () => Outcome<T> | Promise<Outcome<T>>,
    resolve: (value: T) => void, reject: (error: Error) => void
  ): void {
    const [world, random, { process }] = [this.#world, this.#random, node]
    // Nothing that a dead replica does has an effect.
    if (process.isDead) return
    const fault = this.#drawFault()
    const fail = (why: string): void => {
      world.schedule(process, random.below(TIMEOUT_MS), () => {
        world.note(`${what} ${why}`)
        reject(new StoreUnavailable(new Error(why)))
      })
    }
    if (fault === 'refused' || this.#isCut(node)) return fail('refused')
    if (fault === 'killed' && random.chance(0.5)) return node.kill(`before ${what}`)
    if (fault === 'late') {
      fail('late')
      world.schedule(this.#host, random.below(MAX_LATE_MS), () => {
        Promise.resolve(operate()).catch((error: unknown) => world.fail(`the state failed: ${String(error)}`))
      })
      return
    }
    const carryOut = async () => {
      const { value, isDurable } = await operate()
      if (fault === 'killed') return node.kill(`after ${what}`)
      if (fault === 'paused') node.pause(random.below(MAX_PAUSE_MS))
      const snag = this.#findSnag(what, value)
      if (snag !== undefined) this.#beginSnag(node, snag)
      if (fault === 'lost' || this.#isCut(node)) return fail('lost')
      if (!isDurable()) return fail('not durable')
      world.schedule(process, this.#delayMs(), () => {
        world.note(`${what} ${brief(value)}`)
        resolve(value)
      })
    }
    // It is over in the same event.
    world.schedule(this.#host, this.#delayMs(), () => {
      carryOut().catch((error: unknown) => world.fail(`the state failed: ${String(error)}`))
    })
  }

  /** Counts the operation, unless it has found nothing to do. Returns what happens at it. */
  #findSnag (what: string, value: unknown): Snag | undefined {
    const [operation = ''] = what.split(' ', 1)
    if (value === undefined || (isTaken(value) && value.entries.length === 0)) return undefined
    const count = (this.#counts.get(operation) ?? 0) + 1
    this.#counts.set(operation, count)
    return this.snags.find(({ on, nth }) => on === operation && nth === count)
  }

  #beginSnag (node: Node, { pauseMs, next, afterMs, forMs }: Snag): void {
    node.pause(pauseMs)
    if (next === 'nothing') return
    this.#world.schedule(this.#host, pauseMs + afterMs, () => {
      if (node.process.isDead) return
      if (next === 'kill') node.kill('by a snag', forMs)
      else node.cut(forMs)
    })
  }

  #isCut ({ cutUntil }: Node): boolean { return Math.max(cutUntil, this.awayUntil) > this.#world.now }

  #drawFault (): keyof FaultRates | undefined {
    let drawn = this.#random.number()
    return FAULTS.find((fault) => {
      drawn -= this.rates[fault]
      return drawn < 0
    })
  }

  /** Mostly short, and sometimes long. */
  #delayMs (): number {
    return this.#random.below(this.#random.chance(0.05) ? MAX_DELAY_MS : this.delayMs)
  }
}

function nameOf ({ owner, name }: { readonly owner: string, readonly name: string }): string {
  return `${owner.slice(0, 12)}/${name.slice(-8)}`
}

function isTaken (value: unknown): value is TakenEntries {
  return typeof value === 'object' && value !== null && 'entries' in value
}

/** A word for the trace. */
function brief (value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value !== 'object' || value === null) return String(value)
  return 'version' in value ? `v${String(value.version)}` : 'ok'
}
