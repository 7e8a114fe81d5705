// Answers the requests of calls that have become tasks: those that began them, their repetitions, and those
// that bring answers. Also follows a call for the tool that continues calls.

import { isToolError, ToolError } from '../../../platform/author/tool-error.ts'
import { clock } from '../../../base/time.ts'
import { errorResult, textResult } from '../../../catalog/compiled/results/tool-result-json.ts'
import { unknownTask } from '../../../platform/protocol/errors.ts'
import { isTerminal } from '../../../platform/protocol/tasks.ts'
import { ClientGone, RequestCancelled, ServiceClosing } from '../../../request/pipeline/lifetime.ts'
import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import { runRound } from '../../../request/pipeline/run-handler.ts'
import type { StartingCall } from '../../../request/pipeline/seams.ts'
import type { InputRound } from '../../../request/questions/input-round.ts'
import { StoreUnavailable } from '../../../platform/store/records/state-store.ts'
import type { SeenTask, TaskAccess } from '../clients/access.ts'
import { toCallResult, toGoesOnResult, toRelayedResult, toTaskResult, toUnreadResult } from './answers.ts'
import { adoptFirst, assertSameCall, type CallName } from './names.ts'
import { isUnseen, mayTakeOver, partQuestions, type NamedRequests } from './relayed-questions.ts'
import { unaskedText } from './texts.ts'
import { readCall } from '../../../catalog/compiled/definitions/continue-tool.ts'
import type { CallWaits } from './waits.ts'
import type { FirstRunOptions } from './first-record.ts'
import { phaseOf, type TaskPhase, type TaskRecord } from '../records/record.ts'
import type { TaskKey, TaskRecords } from '../records/records.ts'
import type { TransitionDependencies, Transitions } from '../machine/transitions.ts'

export interface CallWaitersDependencies extends Pick<TransitionDependencies, 'dueTimes' | 'storeClock'> {
  readonly records: TaskRecords
  readonly access: TaskAccess
  readonly transitions: Transitions
  readonly waits: CallWaits
  /** How long a request waits for a call, in milliseconds. */
  readonly waitMs: number
  /** How long it waits at most if its client takes tasks. */
  readonly graceMs: number
  /** The time in which nobody reads a question, in milliseconds. */
  readonly readingMs: number
  /** Does work that nobody waits for, before the service closes. */
  background (work: Promise<void>): void
}

/** What is known of a call before it begins. */
type CallOptions = Pick<FirstRunOptions, 'name' | 'takesTasks'>

/** How a call has become a task. */
export interface BegunTask {
  readonly key: TaskKey
  readonly record: TaskRecord
  /** Whether the task itself is the answer now, if the client takes tasks. */
  readonly isAtOnce: boolean
  /** Whether an attempt to create the record may still do so. */
  readonly isInDoubt: boolean
}

/** How a waiting request is answered. */
export interface WaitOptions {
  /**
   * How long the record is kept once the client has the result, in milliseconds. As long as that of a task by
   * default.
   */
  readonly keepMs?: number
  /** Whether a result without structured content must be an error. */
  readonly isError: boolean
  /** Whether the request brings answers: until they are kept, nobody is told that the call goes on. */
  readonly hasAnswer?: boolean
  /**
   * When the answer is the task, in milliseconds of the monotonic clock. Absent if the client takes no tasks.
   */
  readonly taskAt?: number | undefined
}

/** A client that takes tasks need not wait for one that sleeps. */
const TASK_PHASES: readonly TaskPhase[] = ['over', 'undoing', 'asking', 'waiting']
const CALL_PHASES: readonly TaskPhase[] = ['over', 'undoing', 'asking']

const NO_QUESTIONS = { requests: {}, relayed: [] }

/** Resolves to a text for the model if the answer is known before the wait. */
type Prepare = (round: InputRound) => Promise<string | null | undefined | void>

/** Names the call in the request state, which the client sends with its answers. */
const CALL = 'trivet:call'
/** How long the result of a call is kept for repetitions that its client has announced, in milliseconds. */
const ANNOUNCED_MS = 60_000
/** The same for a request of a session, which its client may send twice. */
const TWICE_MS = 15_000
/** The due time of a record that is gone removes itself. How long after that, in milliseconds. */
const MARGIN_MS = 60_000

export class CallWaiters {
  readonly #dependencies: CallWaitersDependencies

  constructor (dependencies: CallWaitersDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Answers the request if its call was begun before: it is sent again with answers, or repeated. Resolves to
   * `undefined`, or returns it, if the call must begin.
   * @param mustKnow whether the call must not begin while the store cannot tell whether it was begun before.
   * By default if the client has sent a key.
   */
  findEarlier (
    request: RequestContext, call: StartingCall, options: CallOptions,
    mustKnow = options.name?.isGiven === true
  ): Promise<string | undefined> | undefined {
    const { name } = options
    const find = async () => {
      const first = name && await adoptFirst(this.#dependencies, name).catch((error: unknown) => {
        // The creation of the record finds the first one.
        if (mustKnow || !(error instanceof StoreUnavailable)) throw error
      })
      return first ? await this.#joinFirst(request, call, first, options) : undefined
    }
    if (call.isRetry) {
      return this.#resume(request, call, options).then(async (result) => result ?? await find())
    }
    return name === undefined ? undefined : find()
  }

  /** Answers the request of a call that has become a task. */
  answer (
    request: RequestContext, call: StartingCall, { name, takesTasks }: CallOptions,
    { key, record, isAtOnce, isInDoubt }: BegunTask
  ): string | Promise<string> {
    const taskAt = takesTasks ? this.#toTaskTime(request) : undefined
    if (taskAt !== undefined && (isAtOnce || taskAt <= clock.monotonic())) {
      return this.#toTask(request, key, record)
    }
    const keepMs = isInDoubt || name?.isGiven === true ? ANNOUNCED_MS : name === undefined ? 0 : TWICE_MS
    this.#cancelWithout(request, key, name, keepMs)
    const options = { keepMs, isError: hasOutputSchema(call), taskAt }
    return this.follow(request, call.openRound(request), key.id, options, naming(key.id))
  }

  /** Answers a request whose call turns out to be a repetition. */
  async join (
    request: RequestContext, call: StartingCall, name: CallName, options: CallOptions
  ): Promise<string> {
    const first = await adoptFirst(this.#dependencies, name)
    if (first === undefined) throw new ToolError('The first such call has just ended. Repeat the call.')
    return await this.#joinFirst(request, call, first, options)
  }

  /**
   * Resolves to the result of the call, to the questions that its client's model passes on, or to where the
   * work is. May end the round with questions to the client.
   * @param call the id of its task, or what the model wrote.
   * @param prepare called first.
   */
  async follow (
    request: RequestContext, round: InputRound, call: string, options: WaitOptions, prepare?: Prepare
  ): Promise<string> {
    let { hasAnswer = false } = options
    try {
      // The wait has a time of its own.
      return await runRound(request, round, Infinity, async () => {
        const text = await prepare?.(round)
        hasAnswer = false
        if (typeof text === 'string') return textResult(request.writer, text)
        return await this.#follow(request, round, call, options).catch((error: unknown) => {
          // The call may have ended, and another request may have told its result.
          if (!(error instanceof StoreUnavailable)) throw error
          return toUnreadResult(request, call, toolOf(request), options.isError)
        })
      }, (json) => json)
    } catch (error) {
      // The work goes on elsewhere, or after the restart.
      if (hasAnswer || !(error instanceof ServiceClosing)) throw error
      return toGoesOnResult(request, call, { tool: toolOf(request) }, options.isError)
    }
  }

  async #resume (
    request: RequestContext, call: StartingCall, { name, takesTasks }: CallOptions
  ): Promise<string | undefined> {
    const round = call.openRound(request)
    const id = await round.once(CALL, () => null)
    if (typeof id !== 'string') return undefined
    this.#cancelWithout(request, this.#keyOf(request, id), name, ANNOUNCED_MS)
    const taskAt = takesTasks ? this.#toTaskTime(request) : undefined
    const options = { keepMs: ANNOUNCED_MS, isError: hasOutputSchema(call), taskAt }
    return await this.follow(request, round, id, options)
  }

  async #joinFirst (
    request: RequestContext, call: StartingCall, { key, record }: SeenTask, { takesTasks }: CallOptions
  ): Promise<string> {
    assertSameCall(record, call.args)
    request.observed.special = 'repeated'
    const isRequired = call.tool.task?.requiredCapabilities !== undefined
    const isTask = takesTasks && record.client.isUnattended !== true
    if (isTask && (isRequired || !isTerminal(record.status))) {
      // The handler acts with the rights of the last caller who was told of its task.
      const task = await this.#dependencies.access.see(request.principal, key.id)
      return this.#toTask(request, key, task.record)
    }
    const options = { isError: hasOutputSchema(call) }
    return await this.follow(request, call.openRound(request), key.id, options, naming(key.id))
  }

  async #follow (
    request: RequestContext, round: InputRound, call: string, { keepMs, isError, taskAt }: WaitOptions
  ): Promise<string> {
    const { waits, waitMs } = this.#dependencies
    const key = this.#keyOf(request, call)
    for (;;) {
      const ms = taskAt === undefined ? waitMs : taskAt - clock.monotonic()
      const task = await waits.waitFor(request, key, ms, taskAt === undefined ? CALL_PHASES : TASK_PHASES)
      const { record } = task
      if (isTerminal(record.status)) {
        // The client of a task asks for it as long as the task says.
        if (keepMs !== undefined || record.relayed !== undefined) this.putAway(task, keepMs ?? ANNOUNCED_MS)
        return toCallResult(request, record)
      }
      const isAsking = phaseOf(record) === 'asking'
      const { requests, relayed } = isAsking ? partQuestions(request, round, record) : NO_QUESTIONS
      const mayAsk = Object.keys(requests).length > 0
      const isTask = taskAt !== undefined && record.client.isUnattended !== true
      if (isTask && !mayAsk) return this.#toTask(request, key, record)
      if (!isAsking) return toGoesOnResult(request, call, record, isError)
      if (!mayAsk) return toRelayedResult(request, call, record.tool, relayed, isError)
      const refusal = await this.#ask(request, round, task, requests)
      if (refusal !== undefined) return refusal
    }
  }

  /** Asks the client. Resolves to `undefined` once it has answered, or to what its model is told instead. */
  async #ask (
    request: RequestContext, round: InputRound, { key, record }: SeenTask, requests: NamedRequests
  ): Promise<string | undefined> {
    const { access, readingMs } = this.#dependencies
    try {
      const quickMs = mayTakeOver(request, record) ? readingMs : 0
      const answers = Object.entries(await round.ask(requests, { isTimed: quickMs > 0 }))
      const responses = answers.filter(([, answer]) => !isUnseen(answer, quickMs, round.elapsedMs))
      await access.update(request.principal, key.id, Object.fromEntries(responses))
      if (responses.length < answers.length) await access.leaveToModel(request.principal, key.id)
      return undefined
    } catch (error) {
      if (!isToolError(error)) throw error
      request.observed.isToolError = true
      return errorResult(request.writer, unaskedText(record.tool, key.id, error.message))
    }
  }

  /** Returns when the answer to the request is the task. */
  #toTaskTime ({ observed: { startedAt } }: RequestContext): number {
    return startedAt + this.#dependencies.graceMs
  }

  #toTask (request: RequestContext, { id }: TaskKey, record: TaskRecord): string {
    return toTaskResult(request, id, record, this.#dependencies.storeClock.now())
  }

  /** Throws the error for an unknown task. */
  #keyOf ({ principal }: RequestContext, call: string): TaskKey {
    const key = this.#dependencies.records.keyOf(principal, readCall(call).taskId)
    if (key === undefined) throw unknownTask()
    return key
  }

  /** A client that leaves before it was told of the call has cancelled it, unless it means to come back. */
  #cancelWithout (
    request: RequestContext, key: TaskKey, name: CallName | undefined, keepMs: number
  ): void {
    const { transitions, background } = this.#dependencies
    request.lifetime.onStop((reason) => {
      const isCancelled = reason instanceof RequestCancelled ||
        (reason instanceof ClientGone && name?.isGiven !== true)
      if (!isCancelled) return
      background(transitions.apply(key, { type: 'cancelled' }, { isUrgent: true }).then((applied) => {
        if (applied !== undefined) this.putAway({ key, ...applied }, keepMs)
      }))
    })
  }

  /** Removes the record of an ended call whose client needs it no more. What is to be undone needs it. */
  putAway (task: SeenTask, keepMs: number): void {
    const { records, dueTimes, background } = this.#dependencies
    const { key, key: { entry }, record, record: { undo, generation } } = task
    if (undo !== undefined) return
    background((async () => {
      // The replica that has written the end may be lost: its due time, which moves now, would repeat this.
      await records.release(key, record)
      await records.forget(key, task, keepMs)
      if (keepMs === 0) await dueTimes.remove(entry)
      else await dueTimes.set(entry, keepMs + MARGIN_MS, generation)
    })())
  }
}

function toolOf ({ observed: { subject = 'The tool' } }: RequestContext): string { return subject }

/** Lets the request state name the call. */
function naming (id: string): Prepare {
  return async (round) => { await round.once(CALL, () => id) }
}

function hasOutputSchema ({ tool }: StartingCall): boolean { return tool.checkOutput !== undefined }
