// The journal of a task: the results of steps, the answers, the questions and the sleeps of its handler. A
// call that may become a task has one too, which is dropped unless it becomes one.

import { Suspended, type Journal, type RequestState } from '../request/questions/input-round.ts'
import { toObjectJson } from '../request/questions/request-state.ts'
import { endOfWork, type TaskRecord } from './record.ts'

/** Created by its first use: most calls that may become tasks need none of it. */
interface Entries {
  readonly state: RequestState
  /** The open questions, as JSON. The handler runs again once the client has answered them. */
  readonly asked: Map<string, string>
  /** The ends of the sleeps, in the handler's order. */
  readonly sleeps: Map<string, number>
}

/** What the journal asks of the call or the run that it belongs to. */
export interface JournalOwner {
  /** Called for a sleep of a call that is not a task yet. Throws if it cannot become one. */
  onSleep? (): void
  /**
   * Resolves when work may begin whose result is kept. Rejects if the run is not the current one any more.
   */
  allowStep? (): Promise<void> | undefined
}

/** Shorter sleeps wait in the process. In milliseconds. */
const SUSPEND_MS = 1000
/** The limit of results and answers, in bytes of JSON. */
export const MAX_STATE_BYTES = 262_144

export class TaskJournal implements Journal {
  readonly #ttlMs: number
  readonly #now: () => number
  #owner: JournalOwner | undefined
  #lazyEntries: Entries | undefined
  #sleepCount = 0
  #wakesAt: number | undefined
  #expiresAt: number | undefined
  #write: (() => Promise<void>) | undefined

  /**
   * @param ttlMs the time limit of the task.
   * @param now milliseconds since the epoch.
   */
  constructor (ttlMs: number, now: () => number, owner?: JournalOwner) {
    this.#ttlMs = ttlMs
    this.#now = now
    this.#owner = owner
  }

  get #entries (): Entries {
    this.#lazyEntries ??= {
      state: { answers: new Map(), results: new Map() }, asked: new Map(), sleeps: new Map()
    }
    return this.#lazyEntries
  }

  get state (): RequestState { return this.#entries.state }
  get asked (): ReadonlyMap<string, string> { return this.#entries.asked }
  /** The end of the sleep that suspends the handler, in milliseconds since the epoch. */
  get wakesAt (): number | undefined { return this.#wakesAt }
  get isTask (): boolean { return this.#write !== undefined }
  get isSuspended (): boolean { return this.#wakesAt !== undefined }

  /**
   * The members of the record that come from the journal. Answers that do not fit open questions are left
   * out.
   */
  get members (): Pick<TaskRecord, 'answers' | 'results' | 'sleeps'> {
    return {
      answers: Object.fromEntries(this.state.answers),
      results: Object.fromEntries(this.state.results),
      sleeps: Object.fromEntries(this.#entries.sleeps)
    }
  }

  /** Adds the entries of earlier runs. */
  restore ({ answers, results, sleeps }: TaskRecord): void {
    for (const [key, json] of Object.entries(answers)) this.state.answers.set(key, json)
    for (const [key, json] of Object.entries(results)) this.state.results.set(key, json)
    for (const [index, endsAt] of Object.entries(sleeps)) this.#entries.sleeps.set(index, endsAt)
  }

  /** Makes the journal that of a task. @param write makes `members` durable. */
  attach (record: TaskRecord, write: () => Promise<void>): void {
    this.#expiresAt = endOfWork(record)
    this.#write = write
  }

  /** Undoes `attach`: the record could not be created. */
  detach (): void { this.#write = undefined }

  /** From now on the run allows steps. */
  adopt (owner: JournalOwner): void { this.#owner = owner }

  allowStep (): Promise<void> | undefined { return this.#owner?.allowStep?.() }

  keep (key: string): Promise<void> | undefined {
    if (this.#write === undefined) return undefined
    const excess = findStateExcess(this.state)
    if (excess === undefined) return this.#write()
    this.state.results.delete(key)
    return Promise.reject(excess)
  }

  ask (key: string, json: string): void { this.#entries.asked.set(key, json) }

  /** Drops the answers to open questions: the handler has asked again because they do not fit. */
  dropUnfitAnswers (): void {
    for (const key of this.asked.keys()) this.state.answers.delete(key)
  }

  sleep (ms: number): number {
    const now = this.#now()
    const index = String(this.#sleepCount++)
    const endsAt = this.#entries.sleeps.get(index) ?? now + ms
    const leftMs = Math.max(0, Math.min(ms, endsAt - now))
    if (leftMs < SUSPEND_MS) return leftMs
    if (endsAt > (this.#expiresAt ?? now + this.#ttlMs)) {
      throw new RangeError(`sleep: would end after the time limit of the task, ${this.#ttlMs} ms (ttlMs)`)
    }
    if (!this.isTask) this.#owner?.onSleep?.()
    this.#entries.sleeps.set(index, endsAt)
    this.#wakesAt = Math.min(this.#wakesAt ?? Infinity, endsAt)
    throw new Suspended()
  }
}

/** Returns the error for the log if the state exceeds the limit. */
export function findStateExcess (state: RequestState): Error | undefined {
  const bytes = stateBytes(state)
  if (bytes <= MAX_STATE_BYTES) return undefined
  return new Error(
    `The results of once and step, and the answers of the client, would take ${bytes} bytes of JSON. ` +
    `The limit of a task is ${MAX_STATE_BYTES}. ` +
    'Keep large values under a handle (defineHandle), and let the step return its id.'
  )
}

export function stateBytes ({ answers, results }: RequestState): number {
  return Buffer.byteLength(toObjectJson(answers)) + Buffer.byteLength(toObjectJson(results))
}
