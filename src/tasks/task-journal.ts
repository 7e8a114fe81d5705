// What the handler of a task has done so far: its steps, answers, questions and sleeps. A call that may
// become a task has a journal too. It is not kept.

import { Suspended, type Journal, type RequestState } from '../request/questions/journal.ts'
import type { TaskRecord } from './task-record.ts'
import { findStateExcess } from './task-sizes.ts'

/** Made when it is first needed: most calls that may become tasks need none of it. */
interface Kept {
  readonly state: RequestState
  /** What the client must answer before the handler runs again. */
  readonly asked: Map<string, string>
  /** When each sleep ends, by its position among the sleeps of the handler. */
  readonly sleeps: Map<string, number>
}

/** Hears of the first sleep of a run that is no task yet. */
interface SleepListener { onSleep (): void }

/** A shorter sleep waits in the process, in milliseconds. */
const SUSPEND_MS = 1000

export class TaskJournal implements Journal {
  readonly #ttlMs: number
  readonly #now: () => number
  readonly #listener: SleepListener | undefined
  #lazyKept: Kept | undefined
  #sleepCount = 0
  #wakesAt: number | undefined
  /** When the time of the task is over. */
  #expiresAt: number | undefined
  #write: (() => Promise<void>) | undefined

  /**
   * @param ttlMs the time limit of the task.
   * @param now milliseconds since the epoch.
   */
  constructor (ttlMs: number, now: () => number, listener?: SleepListener) {
    this.#ttlMs = ttlMs
    this.#now = now
    this.#listener = listener
  }

  get #kept (): Kept {
    this.#lazyKept ??= {
      state: { answers: new Map(), results: new Map() }, asked: new Map(), sleeps: new Map()
    }
    return this.#lazyKept
  }

  get state (): RequestState { return this.#kept.state }
  get asked (): ReadonlyMap<string, string> { return this.#kept.asked }
  /** When the handler runs again after its sleep. */
  get wakesAt (): number | undefined { return this.#wakesAt }
  get isTask (): boolean { return this.#write !== undefined }
  get isSuspended (): boolean { return this.#wakesAt !== undefined }

  /** The members of the record that the journal has. */
  get members (): Pick<TaskRecord, 'answers' | 'results' | 'sleeps'> {
    return {
      answers: Object.fromEntries(this.state.answers),
      results: Object.fromEntries(this.state.results),
      sleeps: Object.fromEntries(this.#kept.sleeps)
    }
  }

  /** Continues from what an earlier run has kept. */
  restore ({ answers, results, sleeps }: TaskRecord): void {
    for (const [key, json] of Object.entries(answers)) this.state.answers.set(key, json)
    for (const [key, json] of Object.entries(results)) this.state.results.set(key, json)
    for (const [index, endsAt] of Object.entries(sleeps)) this.#kept.sleeps.set(index, endsAt)
  }

  /** The request is a task from now on. @param write makes `members` durable. */
  attach ({ createdAt, ttlMs }: TaskRecord, write: () => Promise<void>): void {
    this.#expiresAt = createdAt + ttlMs
    this.#write = write
  }

  /** The request is no task: its record cannot be created. */
  detach (): void { this.#write = undefined }

  keep (key: string): Promise<void> | undefined {
    if (this.#write === undefined) return undefined
    const excess = findStateExcess(this.state)
    if (excess === undefined) return this.#write()
    this.state.results.delete(key)
    return Promise.reject(excess)
  }

  ask (key: string, json: string): void { this.#kept.asked.set(key, json) }

  /** The answers so far do not fit the questions that are asked: they are asked again. */
  dropUnfitAnswers (): void {
    for (const key of this.asked.keys()) this.state.answers.delete(key)
  }

  sleep (ms: number): number {
    const now = this.#now()
    const index = String(this.#sleepCount++)
    const endsAt = this.#kept.sleeps.get(index) ?? now + ms
    const leftMs = Math.max(0, Math.min(ms, endsAt - now))
    if (leftMs < SUSPEND_MS) return leftMs
    if (endsAt > (this.#expiresAt ?? now + this.#ttlMs)) {
      throw new RangeError(`sleep: the task may last ${this.#ttlMs} ms (ttlMs), less than until its end`)
    }
    this.#kept.sleeps.set(index, endsAt)
    this.#wakesAt = Math.min(this.#wakesAt ?? Infinity, endsAt)
    if (!this.isTask) this.#listener?.onSleep()
    throw new Suspended()
  }
}
