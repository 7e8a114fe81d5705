// The world of a simulation: its time, its events and its trace. All code of the service takes clocks, timers
// and random numbers from it. An event belongs to a process, and so does all code that runs because of it:
// each event is over, with all its promises, before the next one begins.

import { hash } from 'node:crypto'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { replaceTime, type Timer } from '../../src/base/time.ts'
import { EventQueue, type QueuedEvent } from './event-queue.ts'
import { SeededRandom } from './random.ts'

/** A replica, a client, or the store. */
export class Process {
  readonly name: string
  readonly random: SeededRandom
  /** Its events are dropped, and its calls never return. */
  isDead = false
  /** While it is paused, its events wait. In milliseconds of the world. */
  pausedUntil = 0
  /** When the last pause began. */
  pausedAt = 0
  /** How far its clock is ahead, in milliseconds. */
  aheadMs = 0
  /** What its monotonic clock began with. */
  readonly bootMs: number

  constructor (name: string, seed: string) {
    this.name = name
    this.random = new SeededRandom(`${seed} ${name}`)
    this.bootMs = this.random.below(1_000_000)
  }
}

/** What the world breaks: a promise of the service, or the simulation itself. */
export class Violation extends Error {}

const START = 1_800_000_000_000
/** More events than any run needs: a loop without a pause would never end. */
const MAX_EVENTS = 400_000

const nextRound = setImmediate
const timersPromises: { setImmediate: unknown } = createRequire(import.meta.url)('node:timers/promises')

export class World {
  readonly seed: string
  readonly trace: string[] = []
  #now = START
  readonly #queue = new EventQueue()
  #current: Process | undefined
  #violation: Violation | undefined
  #events = 0

  constructor (seed: string) {
    this.seed = seed
  }

  /** Milliseconds since the epoch. */
  get now (): number { return this.#now }
  get events (): number { return this.#events }

  createProcess (name: string): Process { return new Process(name, this.seed) }

  /** Adds an event of a process. */
  schedule (owner: Process, inMs: number, run: () => void): QueuedEvent {
    return this.#queue.add({ at: this.#now + Math.max(0, inMs), owner, run })
  }

  /** Resolves after a time, in the process that asks. Rejects when the signal aborts, with its reason. */
  async pause (owner: Process, ms: number, signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const fail = () => reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
      if (signal?.aborted === true) return fail()
      signal?.addEventListener('abort', fail, { once: true })
      this.schedule(owner, ms, () => {
        signal?.removeEventListener('abort', fail)
        resolve()
      })
    })
  }

  /** The process whose event runs. */
  get current (): Process {
    if (this.#current === undefined) throw new TypeError('no event runs')
    return this.#current
  }

  note (text: string): void {
    const { name = 'world' } = this.#current ?? {}
    this.trace.push(`${this.#now - START} ${name} ${text}`)
  }

  /** Ends the run: a promise is broken. */
  fail (problem: string): void {
    this.note(`VIOLATION ${problem}`)
    this.#violation ??= new Violation(problem)
  }

  get violation (): Violation | undefined { return this.#violation }
  get digest (): string { return hash('sha256', this.trace.join('\n'), 'hex') }

  /** Runs events until the work has settled. Resolves to whether it did within the time. */
  async during (work: Promise<unknown>, maxMs: number): Promise<boolean> {
    const progress = { isSettled: false }
    const settle = () => { progress.isSettled = true }
    work.then(settle, (error: unknown) => {
      this.fail(`the simulation failed: ${error instanceof Error ? error.stack : String(error)}`)
      settle()
    })
    const end = this.#now + maxMs
    const restore = this.#install()
    try {
      await new Promise((resolve) => { nextRound(resolve) })
      while (!progress.isSettled && this.#violation === undefined && this.#queue.nextAt <= end) {
        await this.#step()
        if (this.#events > MAX_EVENTS) this.fail(`more than ${MAX_EVENTS} events: something never rests`)
      }
    } finally {
      restore()
    }
    return progress.isSettled
  }

  /** Does work that belongs to a process, at once. */
  as<T> (owner: Process, work: () => T): T {
    const before = this.#current
    this.#current = owner
    try {
      return work()
    } finally {
      this.#current = before
    }
  }

  async #step (): Promise<void> {
    const event = this.#queue.take()
    if (event?.run === undefined || event.owner.isDead) return
    const { owner, run } = event
    this.#now = Math.max(this.#now, event.at)
    if (owner.pausedUntil > this.#now) {
      event.at = owner.pausedUntil
      this.#queue.add(event)
      return
    }
    this.#events++
    this.#current = owner
    event.run = undefined
    try {
      run()
    } catch (error) {
      this.fail(`thrown in ${owner.name}: ${error instanceof Error ? error.stack : String(error)}`)
    }
    // All promises that the event has settled run before this one.
    await new Promise((resolve) => { nextRound(resolve) })
    this.#current = undefined
  }

  /** Replaces the time of the process, and what yields to other events. */
  #install (): () => void {
    const restoreTime = replaceTime({
      now: () => this.#now + (this.#current?.aheadMs ?? 0),
      monotonic: () => this.#now - START + (this.#current?.bootMs ?? 0),
      setTimeout: (callback, ms) => this.#startTimer(callback, ms, false),
      setInterval: (callback, ms) => this.#startTimer(callback, ms, true),
      clear: (timer) => { if (timer instanceof SimulatedTimer) timer.stop() },
      pause: async (ms, { signal } = {}) => await this.pause(this.current, ms, signal),
      random: () => this.current.random.number(),
      randomBytes: (size) => this.current.random.bytes(size),
      randomUuid: () => this.current.random.uuid()
    })
    const before = { immediate: globalThis.setImmediate, promised: timersPromises.setImmediate }
    const later = (callback: (...args: unknown[]) => void, ...args: unknown[]) => {
      if (this.#current === undefined) return nextRound(callback, ...args)
      return this.schedule(this.#current, 0, () => callback(...args))
    }
    globalThis.setImmediate = later as unknown as typeof setImmediate
    timersPromises.setImmediate = async (value: unknown) => {
      await new Promise<void>((resolve) => { later(() => resolve()) })
      return value
    }
    syncBuiltinESMExports()
    return () => {
      restoreTime()
      globalThis.setImmediate = before.immediate
      timersPromises.setImmediate = before.promised
      syncBuiltinESMExports()
    }
  }

  #startTimer (callback: () => void, ms: number, isRepeated: boolean): SimulatedTimer {
    return new SimulatedTimer(this, this.current, callback, ms, isRepeated)
  }
}

/** What the models need of the world: a real one has it too. */
export type ModelWorld = Pick<World, 'now' | 'note' | 'fail' | 'current'>

class SimulatedTimer implements Timer {
  readonly #world: World
  readonly #owner: Process
  readonly #callback: () => void
  readonly #ms: number
  readonly #isRepeated: boolean
  #event: QueuedEvent | undefined

  constructor (world: World, owner: Process, callback: () => void, ms: number, isRepeated: boolean) {
    this.#world = world
    this.#owner = owner
    this.#callback = callback
    this.#ms = ms
    this.#isRepeated = isRepeated
    this.refresh()
  }

  unref (): this { return this }

  refresh (): this {
    this.stop()
    this.#event = this.#world.schedule(this.#owner, this.#ms, () => {
      if (this.#isRepeated) this.refresh()
      this.#callback()
    })
    return this
  }

  stop (): void { if (this.#event !== undefined) this.#event.run = undefined }
}
