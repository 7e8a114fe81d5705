// The journal of a task: the results of steps, the answers, the questions and the sleeps of its handler. A
// call that may become a task has one too, which is dropped unless it becomes one.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import {
  Suspended, type Journal, type OperationForms, type OperationKind, type RequestState, type Takeover,
  type Wait
} from '../../../request/questions/input-round.ts'
import { toObjectJson } from '../../../request/questions/request-state.ts'
import { InputRequired } from '../../../request/questions/round-state.ts'
import { toFailureJson } from '../../../request/questions/step-results.ts'
import { JournalOrder } from './journal-order.ts'
import { endOfRun, type JournalRecord, type TaskRecord } from '../records/record.ts'

/** Created by its first use: most calls that may become tasks need none of it. */
interface Entries {
  readonly state: RequestState
  /** The open questions, as JSON. The handler runs again once the client has answered them. */
  readonly asked: Map<string, string>
  /** The ends of the sleeps. */
  readonly sleeps: Map<string, number>
  readonly order: JournalOrder
}

/** What the journal asks of the call or the run that it belongs to. */
export interface JournalOwner extends Partial<Takeover> {
  /** Called for a sleep of a call that is not a task yet. Throws if it cannot become one. */
  onSleep? (): void
  /** Called for questions of a call that is not a task yet. Rejects if it must become one, and cannot. */
  onAsk? (): Promise<void> | undefined
  /** What the client is asked though it has not declared it. */
  readonly relayed?: ClientCapabilities | undefined
  /**
   * Resolves when work may begin whose result is kept. Rejects if the run is not the current one any more.
   */
  allowStep? (): Promise<void> | undefined
  /** Whether the run was stopped: that its steps fail then says nothing of their work. */
  readonly isStopped?: boolean
  /** How long an operation waits for those before it, in milliseconds. */
  readonly patienceMs?: number
  /** Called when the handler does not do what earlier runs did. The run must end. */
  onMismatch? (error: Error): void
}

/** The journal whose step is running. */
const steps = new AsyncLocalStorage<TaskJournal>()
let stepCount = 0

/** Shorter sleeps wait in the process. In milliseconds. */
const SUSPEND_MS = 1000
/** The limit of results and answers with the order of the journal, in bytes of JSON. */
export const MAX_STATE_BYTES = 262_144

export class TaskJournal implements Journal {
  readonly #ttlMs: number
  #now: () => number
  #owner: JournalOwner | undefined
  #lazyEntries: Entries | undefined
  /** How many sleeps without a key this run has come to. */
  #sleepCount = 0
  #wakesAt: number | undefined
  #mayAsk = true
  #awaitsSteps = false
  #expiresAt: number | undefined
  #write: (() => Promise<void>) | undefined

  /**
   * @param ttlMs the time limit of the task.
   * @param now milliseconds. Another clock may follow.
   */
  constructor (ttlMs: number, now: () => number, owner?: JournalOwner) {
    this.#ttlMs = ttlMs
    this.#now = now
    this.#owner = owner
  }

  get #entries (): Entries {
    this.#lazyEntries ??= {
      state: { answers: new Map(), results: new Map() },
      asked: new Map(),
      sleeps: new Map(),
      order: new JournalOrder(this.#owner?.patienceMs ?? 0)
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
  get members (): JournalRecord {
    const { state: { answers, results }, sleeps, order } = this.#entries
    return {
      answers: Object.fromEntries(answers),
      results: Object.fromEntries(results),
      sleeps: Object.fromEntries(sleeps),
      order: order.entries
    }
  }

  /** Goes on with another clock. The ends of sleeps move with it. @param now milliseconds since the epoch. */
  useClock (now: () => number): void {
    const aheadMs = now() - this.#now()
    this.#now = now
    const sleeps = this.#lazyEntries?.sleeps
    for (const [key, endsAt] of sleeps ?? []) sleeps?.set(key, endsAt + aheadMs)
    if (this.#wakesAt !== undefined) this.#wakesAt += aheadMs
  }

  /** Adds the entries of earlier runs. */
  restore ({ answers, results, sleeps, order }: JournalRecord): void {
    for (const [key, json] of Object.entries(answers)) this.state.answers.set(key, json)
    for (const [key, json] of Object.entries(results)) this.state.results.set(key, json)
    for (const [key, endsAt] of Object.entries(sleeps)) this.#entries.sleeps.set(key, endsAt)
    this.#entries.order.restore(order)
  }

  /** Makes the journal that of a task. @param write makes `members` durable. */
  attach (record: TaskRecord, write: () => Promise<void>): void {
    this.#expiresAt = endOfRun(record)
    this.#mayAsk = record.undo === undefined
    this.#awaitsSteps = record.mayUndo
    this.#write = write
  }

  get awaitsSteps (): boolean { return this.isTask && this.#awaitsSteps }

  /** Undoes `attach`: the record could not be created. */
  detach (): void { this.#write = undefined }

  /** From now on the run allows steps. */
  adopt (owner: JournalOwner): void { this.#owner = owner }

  enter (
    kind: OperationKind, keys: readonly string[], forms?: OperationForms
  ): Promise<void> | undefined {
    // A later run, which has the result of the step, does not come to what is in it.
    if (this.#isInStep) return undefined
    const { order } = this.#entries
    const entering = order.enter(kind, keys, forms)
    entering?.catch((error: Error) => this.#owner?.onMismatch?.(error))
    if (!this.isTask || order.bytes <= MAX_STATE_BYTES) return entering
    const excess = toExcess(order.bytes)
    this.#owner?.onMismatch?.(excess)
    throw excess
  }

  leave (): void { if (!this.#isInStep) this.#entries.order.leave() }

  /** Whether a step is running that has called this. */
  get #isInStep (): boolean { return steps.getStore() === this }

  finish (): void {
    const mismatch = this.#lazyEntries?.order.findMissing()
    if (mismatch !== undefined) throw mismatch
  }

  /** In Node 20 and 22 every promise of the process is slower while the storage is in use. */
  async runStep<T> (key: string, work: () => Promise<T>): Promise<T> {
    const release = this.holdStep()
    try {
      return await steps.run(this, work)
    } catch (error) {
      const isEnd = error instanceof Suspended || error instanceof InputRequired
      if (!isEnd && this.#owner?.isStopped !== true) this.state.results.set(key, toFailureJson(error))
      throw error
    } finally {
      release()
    }
  }

  holdStep (): () => void {
    stepCount++
    return () => { if (--stepCount === 0) steps.disable() }
  }

  allowStep (): Promise<void> | undefined { return this.#owner?.allowStep?.() }

  allowAsk (): Promise<void> | undefined { return this.isTask ? undefined : this.#owner?.onAsk?.() }

  get relayed (): ClientCapabilities | undefined { return this.#owner?.relayed }
  get takesOver (): boolean { return this.#owner?.takesOver === true }

  takeOver (...response: Parameters<Takeover['takeOver']>): boolean {
    return this.#owner?.takeOver?.(...response) === true
  }

  keep (key: string): Promise<void> | undefined {
    if (this.#write === undefined) return undefined
    const excess = this.findExcess()
    if (excess === undefined) return this.#write()
    // A handler that catches the failure comes to it again, and the work is not done again.
    this.state.results.set(key, toFailureJson(excess))
    return Promise.reject(excess)
  }

  ask (key: string, json: string): void {
    if (!this.#mayAsk) throw new Error('ask: nobody is there to answer while the work of a task is undone')
    this.#entries.asked.set(key, json)
  }

  /**
   * Drops the answers to open questions: the handler has asked again because they do not fit. Returns their
   * keys.
   */
  dropUnfitAnswers (): ReadonlySet<string> {
    return new Set([...this.asked.keys()].filter((key) => this.state.answers.delete(key)))
  }

  /** Adds answers that came while the handler runs, to questions of earlier runs that it has not come to. */
  addAnswers (answers: JournalRecord['answers']): void {
    for (const [key, json] of Object.entries(answers)) {
      const isNew = !this.state.answers.has(key) && this.#entries.order.isMissing('ask', key)
      if (isNew) this.state.answers.set(key, json)
    }
  }

  async sleep (ms: number, name: string | undefined, wait: Wait): Promise<void> {
    if (this.#isInStep) {
      throw new Error('sleep: a step must not sleep, because it would be called again; sleep between steps')
    }
    // A short sleep waits here each time. A key may stand for a length that differs from run to run.
    const length = name === undefined && ms >= SUSPEND_MS ? `${ms} ms` : undefined
    const key = name ?? this.#nameSleep(length)
    const entering = this.enter('sleep', [key], [length])
    try {
      if (entering !== undefined) await entering
      await wait(this.#begin(ms, key))
    } finally {
      this.leave()
    }
  }

  #nameSleep (length: string | undefined): string {
    const number = this.#sleepCount++
    return this.#entries.order.findSleep(length) ?? String(number)
  }

  /** Returns what is left of the sleep if that is short. Otherwise throws, to end the handler. */
  #begin (ms: number, key: string): number {
    const now = this.#now()
    const { sleeps } = this.#entries
    const earlierEnd = sleeps.get(key)
    const endsAt = earlierEnd ?? now + ms
    // A difference is less than the length where a sum with a fraction was rounded.
    const leftMs = earlierEnd === undefined ? ms : Math.max(0, Math.min(ms, earlierEnd - now))
    if (leftMs < SUSPEND_MS) return leftMs
    if (endsAt > (this.#expiresAt ?? now + this.#ttlMs)) {
      throw new RangeError(`sleep: would end after the time limit of the task, ${this.#ttlMs} ms (ttlMs)`)
    }
    if (!this.isTask) this.#owner?.onSleep?.()
    sleeps.set(key, endsAt)
    this.#wakesAt = Math.min(this.#wakesAt ?? Infinity, endsAt)
    throw new Suspended()
  }

  /** Returns the error for the log if the journal exceeds the limit. */
  findExcess (): Error | undefined {
    const { state, order } = this.#entries
    const bytes = stateBytes(state) + order.bytes
    return bytes > MAX_STATE_BYTES ? toExcess(bytes) : undefined
  }
}

function toExcess (bytes: number): Error {
  return new Error(
    `The results of once and step, the answers of the client, and the keys would take ${bytes} bytes of ` +
    `JSON. The limit of a task is ${MAX_STATE_BYTES}. ` +
    'Keep large values under a handle (defineHandle), and let the step return its id.'
  )
}

export function stateBytes ({ answers, results }: RequestState): number {
  return Buffer.byteLength(toObjectJson(answers)) + Buffer.byteLength(toObjectJson(results))
}
