// An ordinary call until its handler asks what the client cannot be asked. The call is then kept, and the
// model of the client passes the question on. The handler runs again from its first line after the answer.

import type { ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import { tooManyQuestions } from '../../../platform/protocol/errors.ts'
import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import type { RelayStart, StartingCall } from '../../../request/pipeline/seams.ts'
import type { RequestState } from '../../../request/questions/input-round.ts'
import type { Question } from '../../../request/questions/question.ts'
import { TaskJournal } from '../journal/journal.ts'
import { MAX_QUESTIONS } from '../machine/questions.ts'
import { TaskTaken } from '../records/records.ts'
import { findTransition } from '../machine/states.ts'
import type { TaskStartDependencies } from './first-run.ts'
import {
  exchangeTokens, holdFirst, relayedBy, storeFirst, toFirstRecord, type FirstRunOptions
} from './first-record.ts'
import { nameCall } from './names.ts'
import { isUnseen } from './relayed-questions.ts'
import type { BegunTask } from './waiters.ts'

/** Returns `undefined` if no model may pass on the questions of the call. Throws for a malformed key. */
export function openRelay (
  dependencies: TaskStartDependencies, request: RequestContext, call: StartingCall
): RelayStart | undefined {
  const { tool, tool: { task: rule }, args } = call
  if (rule?.isForQuestions !== true || !request.snapshot.server.continuesCalls) return undefined
  const name = nameCall(dependencies.records, request, call)
  // A client with an Idempotency-Key will retry: go on when it disconnects.
  if (name?.isGiven === true) request.lifetime.outliveClient()
  const relayed = relayedBy(rule)
  return new RelayedCall(dependencies, request, call, { tool, rule, args, name, takesTasks: false, relayed })
}

const NONE: ReadonlySet<string> = new Set()

class RelayedCall implements RelayStart {
  readonly #dependencies: TaskStartDependencies
  readonly #request: RequestContext
  readonly #call: StartingCall
  #options: FirstRunOptions

  constructor (
    dependencies: TaskStartDependencies, request: RequestContext, call: StartingCall, options: FirstRunOptions
  ) {
    this.#dependencies = dependencies
    this.#request = request
    this.#call = call
    this.#options = options
  }

  get capabilities (): ClientCapabilities { return this.#options.relayed ?? {} }

  get takesOver (): boolean { return this.#options.rule.relaysQuestions }

  takeOver ({ requiredCapabilities }: Question, response: unknown, elapsedMs: number): boolean {
    const isUnattended = this.takesOver && requiredCapabilities.elicitation !== undefined &&
      isUnseen(response, this.#dependencies.readingMs, elapsedMs)
    if (isUnattended) this.#options = { ...this.#options, isUnattended }
    return isUnattended
  }

  /** Looks up the name before the handler, whose effects come before the record. */
  findEarlier (): Promise<string | undefined> | undefined {
    return this.#dependencies.waiters.findEarlier(this.#request, this.#call, this.#options, true)
  }

  async keep (state: RequestState, questions: ReadonlyMap<string, string>): Promise<string> {
    const { waiters } = this.#dependencies
    const { lifetime } = this.#request
    lifetime.throwIfStopped()
    const resumeClock = lifetime.pauseClock()
    try {
      const task = await this.#create(state, questions)
      return await waiters.answer(this.#request, this.#call, this.#options, task)
    } catch (error) {
      const { name } = this.#options
      if (!(error instanceof TaskTaken) || name === undefined) throw error
      return await waiters.join(this.#request, this.#call, name, this.#options)
    } finally {
      resumeClock()
    }
  }

  /** Creates the record of a call that waits for answers: a replica that is lost then loses nothing. */
  async #create ({ answers, results }: RequestState, open: ReadonlyMap<string, string>): Promise<BegunTask> {
    const { storeClock } = this.#dependencies
    const { rule: { ttlMs }, name } = this.#options
    const journal = new TaskJournal(ttlMs, storeClock.now)
    const texts = { answers: Object.fromEntries(answers), results: Object.fromEntries(results) }
    // The next run comes to its steps and questions in the order that the journal then has.
    journal.restore({ ...texts, sleeps: {}, order: [] })
    const excess = journal.findExcess()
    if (excess !== undefined) throw excess
    if (open.size > MAX_QUESTIONS) throw tooManyQuestions(MAX_QUESTIONS)
    const hold = await holdFirst(this.#dependencies, this.#request, name)
    const upstreamTokens = await exchangeTokens(this.#dependencies, this.#request, this.#options)
    const now = storeClock.now()
    const first = toFirstRecord(this.#request, this.#options, journal, now, undefined)
    const running = { ...first, upstreamTokens }
    const { run } = running
    const suspended = {
      type: 'suspended', run, journal: journal.members, asked: open, unfit: NONE, wakesAt: undefined
    } as const
    const record = findTransition(running, suspended, now)?.record
    if (record === undefined) throw new TypeError('unreachable: a run that asks is suspended')
    const { isInDoubt } = await storeFirst(this.#dependencies, hold, record)
    return { key: hold.key, record, isAtOnce: false, isInDoubt }
  }
}
