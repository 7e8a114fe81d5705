// Rounds of the modern era. A round ends with `input_required` or with the result. Between two rounds only
// the client keeps the state. It is sealed.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr

import type { AnswersOf, InputRequest } from '../../platform/author/input-request.ts'
import { applyTo } from '../../base/apply-to.ts'
import { clock, random } from '../../base/time.ts'
import { findMissingCapabilities, mergeCapabilities } from '../../platform/protocol/capabilities.ts'
import { invalidParams, missingClientCapability } from '../../platform/protocol/errors.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { Sealer } from '../../platform/store/sealing/sealer.ts'
import { toHostRequests } from './host-needs.ts'
import type {
  InputRound, QuestionOptions, RequestState, RoundRequest, Takeover, Wait
} from './input-round.ts'
import type { Answer, Question } from './question.ts'
import { readQuestions } from './questions.ts'
import { openState, sealState, toBindingText, toStateBytes, toObjectJson } from './request-state.ts'
import { RoundState, runOnce, type AskedQuestion } from './round-state.ts'
import { fromResultJson, toResultJson } from './step-results.ts'

export interface SealedRoundOptions {
  readonly sealer: Sealer
  /** How long a request state is valid, in milliseconds: the client must answer within this time. */
  readonly ttlMs: number
  /** The largest request state as JSON, in bytes. 32,768 by default. */
  readonly maxStateBytes?: number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
  /** The name of the replica. */
  readonly replica?: string
}

/** Tells this replica from others, whose clocks are others. */
const REPLICA = random.name(8)

/** A state that says only when a question was sent stands for none, which would not expire. */
const NEVER = 2 ** 48 - 1

export class SealedInputRound implements InputRound {
  readonly #options: SealedRoundOptions
  readonly #request: RoundRequest
  #lazyState: RoundState | undefined
  #lazyBindingText: string | undefined
  #isRelayed = false
  /** Whether the state says when the open questions were sent. */
  #isTimed = false
  readonly #askedAt: RequestState['askedAt']

  /** Throws invalid params for responses that are not an object, and for a state of another request. */
  constructor (options: SealedRoundOptions, request: RoundRequest) {
    this.#options = options
    this.#request = request
    const { inputResponses, requestState, journal } = request
    if (inputResponses !== undefined && !isObject(inputResponses)) {
      throw invalidParams(
        'inputResponses must be an object of the answers, under the keys of the inputRequests'
      )
    }
    if (requestState !== undefined) {
      const state = openState(options.sealer, this.#bindingText, requestState)
      this.#askedAt = state.askedAt
      this.#lazyState = new RoundState(journal === undefined ? state : addState(journal.state, state))
    }
  }

  get #bindingText (): string {
    this.#lazyBindingText ??= toBindingText(this.#request.bind())
    return this.#lazyBindingText
  }

  get #state (): RoundState {
    this.#lazyState ??= new RoundState(this.#request.journal?.state)
    return this.#lazyState
  }

  ask<const R extends { readonly [key: string]: InputRequest }> (
    requests: R, options?: QuestionOptions
  ): Promise<AnswersOf<R>>
  ask (requests: { readonly [key: string]: InputRequest }, options: QuestionOptions = {}): Promise<unknown> {
    this.#isTimed = options.isTimed === true || this.#takeover?.takesOver === true
    return this.#state.track(this.#ask(requests, options))
  }

  once<T> (key: string, fn: () => T | Promise<T>): Promise<T>
  once (key: string, fn: () => unknown): Promise<unknown> {
    const { keys } = this.#state
    const problem = keys.use('once or step', key)
    if (problem !== undefined) return Promise.reject(problem)
    return this.#state.track(this.#once(key, fn), () => keys.free('once or step', key))
  }

  allowStep (): Promise<void> | undefined { return this.#request.journal?.allowStep() }

  async sleep (ms: number, key: string | undefined, wait: Wait): Promise<void> {
    const problem = key === undefined ? undefined : this.#state.keys.use('sleep', key)
    if (problem !== undefined) throw problem
    const { journal } = this.#request
    await (journal === undefined ? wait(ms) : journal.sleep(ms, key, wait))
  }

  finish (): void { this.#request.journal?.finish() }

  get isAsleep (): boolean { return this.#request.journal?.isSuspended === true }

  holdStep (): (() => void) | undefined { return this.#request.journal?.holdStep?.() }

  settle (hasFailed = false): Promise<void> | undefined {
    const state = this.#lazyState
    if (state === undefined || state.unsettled.size === 0) return undefined
    const isNeeded = this.#isUnfinished || (hasFailed && this.#request.journal?.awaitsSteps === true)
    return isNeeded ? Promise.allSettled(state.unsettled).then(() => this.settle(hasFailed)) : undefined
  }

  get pending (): string | undefined {
    if (!this.#isUnfinished) return undefined
    this.#state.close()
    const { requestState, inputRequests } = this.#state
    const requests = toHostRequests(inputRequests, this.#request.client)
    const members = `"inputRequests":${toObjectJson(requests)}`
    if (this.#request.journal?.isTask === true) return members
    const isEmpty = requestState.answers.size === 0 && requestState.results.size === 0
    if (!this.#isTimed && isEmpty) return members
    const { sealer, ttlMs, maxStateBytes = 32_768, now = clock.now, replica = REPLICA } = this.#options
    const askedAt = this.#isTimed ? `${replica} ${clock.monotonic()}` : undefined
    const bytes = toStateBytes({ ...requestState, askedAt })
    if (bytes.length > maxStateBytes) throw toSizeError(bytes.length, maxStateBytes, requestState)
    const expiresAt = isEmpty ? NEVER : now() + ttlMs
    return `${members},"requestState":"${sealState(sealer, this.#bindingText, bytes, expiresAt)}"`
  }

  get elapsedMs (): number | undefined {
    const { replica = REPLICA } = this.#options
    const [name, time] = this.#askedAt?.split(' ') ?? []
    return name === replica ? clock.monotonic() - Number(time) : undefined
  }

  get #takeover (): Partial<Takeover> | undefined { return this.#request.relay ?? this.#request.journal }

  get relay (): InputRound['relay'] {
    const { relay } = this.#request
    if (relay === undefined || !this.#isRelayed) return undefined
    const { requestState, inputRequests } = this.#state
    this.#state.close()
    return async () => await relay.keep(requestState, inputRequests)
  }

  /** Whether the handler runs again: the client must answer first, or the task sleeps. */
  get #isUnfinished (): boolean {
    return this.isAsleep || (this.#lazyState !== undefined && this.#lazyState.inputRequests.size > 0)
  }

  // Does not yield before all input requests are added, unless a schema checks asynchronously: so two calls
  // at the same time become one round.
  async #ask (
    requests: { readonly [key: string]: InputRequest }, { isOrdered = true }: QuestionOptions
  ): Promise<unknown> {
    const questions = readQuestions(requests, (key) => this.#state.questions.get(key)?.question)
    const { journal } = this.#request
    if (journal === undefined || !isOrdered) return await this.#answer(questions)
    const keys = questions.map(([key]) => key)
    const entering = journal.enter('ask', keys, keys.map((key) => requests[key]?.kind))
    try {
      if (entering !== undefined) await entering
      return await this.#answer(questions)
    } finally {
      journal.leave()
    }
  }

  async #answer (questions: ReadonlyArray<readonly [string, Question]>): Promise<unknown> {
    const { inputRequests } = this.#state
    const answers: Array<readonly [string, unknown]> = []
    const missing: Array<readonly [string, Question]> = []
    for (const [key, question] of questions) {
      const reading = this.#answerTo(key, question)
      const answer = reading instanceof Promise ? await reading : reading
      if (answer === undefined) missing.push([key, question])
      else answers.push([key, answer.value])
    }
    if (missing.length === 0) return Object.fromEntries(answers)
    const required = mergeCapabilities(missing.map(([, { requiredCapabilities }]) => requiredCapabilities))
    const { journal, relay, capabilities } = this.#request
    const undeclared = findMissingCapabilities(required, capabilities)
    if (undeclared !== undefined) {
      const relayed = journal?.relayed ?? relay?.capabilities ?? {}
      const isAskable = findMissingCapabilities(undeclared, relayed) === undefined
      if (!isAskable) throw missingClientCapability(undeclared)
      this.#isRelayed = true
    }
    const allowing = journal?.allowAsk?.()
    if (allowing !== undefined) await allowing
    for (const [key, { json }] of missing) {
      journal?.ask(key, json)
      inputRequests.set(key, json)
    }
    throw await this.#state.toInputRequired(missing.map(([key]) => key))
  }

  #answerTo (key: string, question: Question): AskedQuestion['answer'] {
    const { questions } = this.#state
    const before = questions.get(key)
    if (before !== undefined) return before.answer
    const answer = this.#findAnswer(key, question)
    questions.set(key, { question, answer })
    return answer
  }

  /** Prefers the answer of an earlier round, if it fits the question. */
  #findAnswer (key: string, question: Question): AskedQuestion['answer'] {
    const { answers } = this.#state.requestState
    const earlier = answers.get(key)
    const { inputResponses, journal } = this.#request
    const standIn = journal?.standIn?.('ask', key)
    if (standIn !== undefined) return { ...standIn, json: 'null' }
    const keep = (answer: Answer | undefined) => {
      if (answer !== undefined) answers.set(key, answer.json)
      return answer
    }
    const fromRequest = () => {
      if (!isObject(inputResponses) || !Object.hasOwn(inputResponses, key)) return undefined
      const response = inputResponses[key]
      if (this.#isTakenOver(question, response)) return undefined
      return applyTo(question.read(response), keep)
    }
    return earlier === undefined
      ? fromRequest()
      : applyTo(question.read(JSON.parse(earlier)), (answer) => answer ?? fromRequest())
  }

  /** Whether the model of the client passes on the question, because nobody has seen it. */
  #isTakenOver (question: Question, response: unknown): boolean {
    const isTakenOver = !this.#state.hasAccepted &&
      this.#takeover?.takeOver?.(question, response, this.elapsedMs ?? Infinity) === true
    if (isTakenOver) this.#isRelayed = true
    return isTakenOver
  }

  async #once (key: string, fn: () => unknown): Promise<unknown> {
    if (this.#state.isOver) throw await this.#state.toInputRequired([...this.#state.inputRequests.keys()])
    const { journal } = this.#request
    if (journal === undefined) return await this.#findOrRun(key, () => runOnce(key, fn))
    // The failure of a step is kept too: the handler may have caught it, and must come to it again.
    const name = this.#state.keys.attemptName(key)
    const entering = journal.enter('step', [name])
    try {
      if (entering !== undefined) await entering
      return await this.#findOrRun(name, async () => await journal.runStep(name, () => runOnce(key, fn)))
    } finally {
      journal.leave()
    }
  }

  async #findOrRun (name: string, run: () => Promise<unknown>): Promise<unknown> {
    const { results } = this.#state.requestState
    const earlier = results.get(name)
    if (earlier !== undefined) return fromResultJson(earlier)
    const standIn = this.#request.journal?.standIn?.('step', name)
    if (standIn !== undefined) return standIn.value
    const allowing = this.allowStep()
    if (allowing !== undefined) await allowing
    const result = await run()
    results.set(name, toResultJson(result))
    await this.#request.journal?.keep(name)
    return result
  }
}

function addState (state: RequestState, { answers, results }: RequestState): RequestState {
  for (const [key, json] of answers) state.answers.set(key, json)
  for (const [key, json] of results) state.results.set(key, json)
  return state
}

function toSizeError (bytes: number, limit: number, { answers, results }: RequestState): Error {
  const members = [
    ...Array.from(results, ([key, json]) => ({ name: `once ${JSON.stringify(key)}`, json })),
    ...Array.from(answers, ([key, json]) => ({ name: `the answer ${JSON.stringify(key)}`, json }))
  ]
  const [largest] = members.toSorted((a, b) => b.json.length - a.json.length)
  return new Error(`The request state is ${bytes} bytes, the limit is ${limit}; ` +
    `the largest member is ${largest?.name ?? 'unknown'}. ` +
    'Keep large values under a handle (defineHandle), and let `once` return its id.')
}
