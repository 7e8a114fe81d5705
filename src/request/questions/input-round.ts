// A round of a request that may ask its client for input, and the journal of a request that is a task.

import type { AnswersOf, InputRequest } from '../../platform/author/input-request.ts'
import type { ClientCapabilities } from '../../platform/protocol/capabilities.ts'
import type { Implementation } from '../../platform/protocol/primitives.ts'
import type { Question } from './question.ts'

export interface InputRound {
  /**
   * Resolves to the answers. Rejects when answers are missing: `pending` then has the questions to send.
   * @param options.isOrdered whether a task must ask in the same order each time. True by default.
   * @param options.isTimed whether `elapsedMs` is asked for.
   */
  ask<const R extends { readonly [key: string]: InputRequest }> (
    requests: R, options?: QuestionOptions
  ): Promise<AnswersOf<R>>
  /**
   * How long the client took for its latest answers, in milliseconds. `undefined` if that is not known, as
   * where another replica has asked.
   */
  readonly elapsedMs?: number | undefined
  /** Whether the client's revision can ask this. Absent where it can ask all. @param json the request. */
  mayAsk? (json: string): boolean
  /**
   * Resolves to the first result of `fn`, which is the same in all rounds of the request. Rejects if the key
   * names other work of this run.
   */
  once<T> (key: string, fn: () => T | Promise<T>): Promise<T>
  /**
   * Resolves after the sleep, or rejects to end the handler: it then runs again after the sleep.
   * @param key tells the sleeps of a handler apart. Their order does by default.
   * @param wait waits in this process.
   */
  sleep (ms: number, key: string | undefined, wait: Wait): Promise<void>
  /** Resolves when a further attempt of a step may begin, as `allowStep` of the journal does. */
  allowStep? (): Promise<void> | undefined
  /**
   * Says that an attempt at a step runs, until the returned function is called: it may outlive its step,
   * which has a time limit. Absent where nothing asks whether a step runs.
   */
  holdStep? (): (() => void) | undefined
  /** Whether the handler ended in order to sleep. */
  readonly isAsleep?: boolean
  /** Called when the handler has returned. Throws if it must not end here. Absent where it always may. */
  finish? (): void
  /**
   * Await this after the handler, before `pending` is read: an `ask` may have ended the handler while another
   * `ask`, or a `once` whose result must not be lost, was still running. `undefined` if nothing is running.
   * @param hasFailed whether the handler has thrown. What steps beside that do is then needed to undo it.
   */
  settle (hasFailed?: boolean): Promise<void> | undefined
  /**
   * The members of an InputRequiredResult, as JSON without braces. `undefined` if no question is open. Read
   * this after the handler, even if it threw. Throws if the state for the next round is too large.
   */
  readonly pending: string | undefined
  /**
   * Present after the handler if a question is open that the client cannot be asked, but its model. Keeps the
   * call, and resolves to the result of the request.
   */
  readonly relay?: (() => Promise<string>) | undefined
}

/** Lets the model of a client pass on questions that nobody has seen. */
export interface Takeover {
  /** Whether it may do so: the time of each question is then kept. */
  readonly takesOver: boolean
  /**
   * Returns whether the model passes on a question to which the client has responded: nobody was there,
   * because the client has cancelled it sooner than a person reads.
   * @param elapsedMs since the question was sent. `Infinity` where another replica has sent it: then not.
   */
  takeOver (question: Question, response: unknown, elapsedMs: number): boolean
}

/** Keeps a call whose questions the model of its client passes on. */
export interface Relay extends Takeover {
  /** What the client is asked though it has not declared it. */
  readonly capabilities: ClientCapabilities
  /**
   * Resolves to the result of the request.
   * @param state the answers and results so far.
   * @param questions the open questions, as JSON.
   */
  keep (state: RequestState, questions: ReadonlyMap<string, string>): Promise<string>
}

export type Wait = (ms: number) => Promise<void>

export interface QuestionOptions { readonly isOrdered?: boolean, readonly isTimed?: boolean }

/** The request that a round belongs to. Its request state can be opened only for an equal binding. */
export interface RoundBinding {
  /** The owner, as `ownerOf` names the principal. */
  readonly owner: string
  readonly method: string
  /** The tool, the prompt or the URI. */
  readonly name: string
  /** The arguments as the client sent them. The order of members does not matter. `undefined` equals `{}`. */
  readonly args: unknown
}

/** The members of a request that its round needs. */
export interface RoundRequest {
  readonly inputResponses: unknown
  readonly requestState: string | undefined
  readonly capabilities: ClientCapabilities
  /** What the client says of itself. */
  readonly client?: Implementation | undefined
  /** Present if the request is a task, or may become one. */
  readonly journal?: Journal | undefined
  /** Present if a model may pass on questions of a request that is no task. */
  readonly relay?: Relay | undefined
  /** Called only when there is a state to seal or to open. */
  readonly bind: () => RoundBinding
}

/** Answers and results as JSON, by the key of `ask` or `once`. */
export interface RequestState {
  readonly answers: Map<string, string>
  /**
   * Each result is an array of one. The array is empty if the result is `undefined`. The failure of a step of
   * a task is an object.
   */
  readonly results: Map<string, string>
  /**
   * When the open questions were sent, if a model may pass them on: the name of the replica, and the time of
   * its monotonic clock in milliseconds.
   */
  readonly askedAt?: string | undefined
}

/** Keeps the state of a task in the service. The client of another request carries it from round to round. */
export interface Journal extends Partial<Takeover> {
  /** The state so far. The round adds to it. */
  readonly state: RequestState
  /** Whether the request is a task: its client gets neither the questions nor the state with an answer. */
  readonly isTask: boolean
  /** Whether the handler ended in order to run again later. */
  readonly isSuspended: boolean
  /** Whether a handler that has failed waits for its steps that run: `undo` needs their results. */
  readonly awaitsSteps?: boolean
  /** Says that an attempt at a step runs, as `holdStep` of the round does. */
  holdStep? (): () => void
  /**
   * Called when the handler comes to operations that begin at the same time. Call `leave` when they have
   * ended. Returns a promise if they must wait for others, which rejects with a JournalMismatch if these do
   * not come, or if an earlier run came to others of these keys. Throws if the task keeps too much.
   * @param forms what else tells each from others: the kind of a question, the length of a sleep.
   */
  enter (
    kind: OperationKind, keys: readonly string[], forms?: OperationForms
  ): Promise<void> | undefined
  leave (): void
  /** Throws a JournalMismatch if an earlier run came to more operations than this one. */
  finish (): void
  /** Does the work of a `once`, which must not sleep. Keeps its failure, as the result of the key. */
  runStep<T> (key: string, work: () => Promise<T>): Promise<T>
  /**
   * Called before the work of each `once`. Resolves when it may begin. Rejects if the task no longer runs
   * here, or cannot be kept. Returns `undefined` if it may begin now.
   */
  allowStep (): Promise<void> | undefined
  /**
   * Called after each result of `once`. Resolves when the result is durable. Rejects if the task keeps too
   * much, or no longer runs here. Returns `undefined` while the request is not a task.
   */
  keep (key: string): Promise<void> | undefined
  /** What the client is asked though it has not declared it: its model passes the questions on. */
  readonly relayed?: ClientCapabilities | undefined
  /**
   * Called before questions. Resolves when they may be asked. Rejects if the call cannot be kept until they
   * are answered. Returns `undefined` if they may be asked now.
   */
  allowAsk? (): Promise<void> | undefined
  /** Called for each unanswered question. @param json the input request. */
  ask (key: string, json: string): void
  /** Waits in this process, or rejects with a Suspended to end the handler. */
  sleep (ms: number, key: string | undefined, wait: Wait): Promise<void>
  /**
   * Returns what takes the place of a result or an answer that the journal lacks, or throws what takes the
   * place of a failure. `undefined` if there is none. Absent where the journal has all values.
   */
  standIn? (kind: 'step' | 'ask', key: string): { readonly value: unknown } | undefined
}

export type OperationForms = ReadonlyArray<string | undefined>

/** What a handler comes to: a `once` or a `step`, a question, or a sleep. */
export type OperationKind = 'step' | 'ask' | 'sleep'

/** The handler of a task has come to an operation where earlier runs came to another one. */
export class JournalMismatch extends Error {
  override readonly name = 'JournalMismatch'
  /** Such as `step "order"`. */
  readonly expected: string
  readonly came: string

  constructor (expected: string, came: string) {
    super(`The handler came to ${came} where it came to ${expected} in an earlier run. A task goes on only ` +
      'if each run comes to the same steps, questions and sleeps, in the same order.')
    this.expected = expected
    this.came = came
  }
}

/** Ends the handler of a task that sleeps. It is not reported as an error. */
export class Suspended extends Error {
  override readonly name = 'Suspended'
  constructor () { super('The task sleeps. The handler runs again afterwards. Do not catch this rejection.') }
}
