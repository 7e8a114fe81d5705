// Rounds of requests that end with `input_required`: all that is remembered between them is sealed, and kept
// by the client.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr

import type { AnswersOf, InputRequest } from '../authoring/input-request.ts'
import { findMissingCapabilities, mergeCapabilities } from '../protocol/capabilities.ts'
import { invalidParams, missingClientCapability } from '../protocol/errors.ts'
import { isObject } from '../protocol/json-rpc.ts'
import type { InputRound, RoundRequest } from './input-round.ts'
import type { Answer, Question } from './question.ts'
import { createQuestions, readQuestions, type Questions } from './questions.ts'
import type { Sealer } from '../sealing/sealer.ts'
import {
  openState, sealState, toBindingText, toStateBytes, toObjectJson, type RequestState
} from './request-state.ts'
import { InputRequired, RoundState, runOnce, type AskedQuestion } from './round-state.ts'

export interface InputRoundsOptions {
  readonly sealer: Sealer
  /** How long a client has for its answers, in milliseconds. */
  readonly ttlMs: number
  /** How large the answers and results that a request carries may be as JSON, in bytes. 32,768 by default. */
  readonly maxStateBytes?: number
  /** Milliseconds since the epoch. */
  readonly now?: () => number
}

export interface InputRounds {
  /**
   * Throws invalid params for responses that are not an object, and for a state that was not given to this
   * request.
   */
  open (request: RoundRequest): InputRound
}

interface RoundDependencies extends Required<InputRoundsOptions> { readonly questions: Questions }

export function createInputRounds (
  { sealer, ttlMs, maxStateBytes = 32_768, now = Date.now }: InputRoundsOptions
): InputRounds {
  const parts = { sealer, ttlMs, maxStateBytes, now, questions: createQuestions() }
  return { open: (request) => new SealedInputRound(parts, request) }
}

class SealedInputRound implements InputRound {
  readonly #parts: RoundDependencies
  readonly #request: RoundRequest
  #lazyWork: RoundState | undefined
  #lazyBound: string | undefined

  constructor (parts: RoundDependencies, request: RoundRequest) {
    this.#parts = parts
    this.#request = request
    const { inputResponses, requestState } = request
    if (inputResponses !== undefined && !isObject(inputResponses)) {
      throw invalidParams(
        'inputResponses must be an object of the answers, under the keys of the inputRequests'
      )
    }
    if (requestState !== undefined) {
      this.#lazyWork = new RoundState(openState(parts.sealer, this.#bound, requestState))
    }
  }

  get #bound (): string {
    this.#lazyBound ??= toBindingText(this.#request.bind())
    return this.#lazyBound
  }

  get #work (): RoundState {
    this.#lazyWork ??= new RoundState()
    return this.#lazyWork
  }

  ask<const R extends { readonly [key: string]: InputRequest }> (requests: R): Promise<AnswersOf<R>>
  ask (requests: { readonly [key: string]: InputRequest }): Promise<unknown> {
    return this.#work.track(this.#ask(requests))
  }

  once<T> (key: string, fn: () => T | Promise<T>): Promise<T>
  once (key: string, fn: () => unknown): Promise<unknown> {
    const { onceResults, carried } = this.#work
    const known = onceResults.get(key)
    if (known !== undefined) return known
    const json = carried.results.get(key)
    const result = this.#work.track(
      json === undefined ? this.#run(key, fn) : Promise.resolve(fromResultJson(json)),
      () => onceResults.delete(key)
    )
    onceResults.set(key, result)
    return result
  }

  settle (): Promise<void> | undefined {
    const work = this.#lazyWork
    if (work === undefined || work.inputRequests.size === 0 || work.unsettled.size === 0) return undefined
    return Promise.allSettled(work.unsettled).then(() => this.settle())
  }

  get pending (): string | undefined {
    const work = this.#lazyWork
    if (work === undefined || work.inputRequests.size === 0) return undefined
    const { carried, inputRequests } = work
    const asked = `"inputRequests":${toObjectJson(inputRequests)}`
    if (carried.answers.size === 0 && carried.results.size === 0) return asked
    const { sealer, ttlMs, maxStateBytes, now } = this.#parts
    const bytes = toStateBytes(carried)
    if (bytes.length > maxStateBytes) throw tooLarge(bytes.length, maxStateBytes, carried)
    return `${asked},"requestState":"${sealState(sealer, this.#bound, bytes, now() + ttlMs)}"`
  }

  // Does not yield before all is noted, where no schema checks asynchronously: two calls side by side are
  // then one round.
  async #ask (requests: { readonly [key: string]: InputRequest }): Promise<unknown> {
    const { asked } = this.#work
    const questions = readQuestions(this.#parts.questions, requests, (key) => asked.get(key)?.question)
    const answers: Array<readonly [string, unknown]> = []
    const missing: Array<readonly [string, Question]> = []
    for (const [key, question] of questions) {
      const read = this.#answerTo(key, question)
      const answer = read instanceof Promise ? await read : read
      if (answer === undefined) missing.push([key, question])
      else answers.push([key, answer.value])
    }
    if (missing.length === 0) return Object.fromEntries(answers)
    const required = mergeCapabilities(missing.map(([, { requiredCapabilities }]) => requiredCapabilities))
    const undeclared = findMissingCapabilities(required, this.#request.capabilities)
    if (undeclared !== undefined) throw missingClientCapability(undeclared)
    for (const [key, { json }] of missing) this.#work.inputRequests.set(key, json)
    throw new InputRequired(missing.map(([key]) => key))
  }

  #answerTo (key: string, question: Question): AskedQuestion['answer'] {
    const { asked } = this.#work
    const before = asked.get(key)
    if (before !== undefined) return before.answer
    const answer = this.#findAnswer(key, question)
    asked.set(key, { question, answer })
    return answer
  }

  /** What was answered in an earlier round counts first, as long as it fits what is asked now. */
  #findAnswer (key: string, question: Question): AskedQuestion['answer'] {
    const { answers } = this.#work.carried
    const carried = answers.get(key)
    const { inputResponses } = this.#request
    const fromRequest = () => isObject(inputResponses) && Object.hasOwn(inputResponses, key)
      ? then(question.read(inputResponses[key]), note)
      : undefined
    const note = (answer: Answer | undefined) => {
      if (answer !== undefined) answers.set(key, answer.json)
      return answer
    }
    return carried === undefined
      ? fromRequest()
      : then(question.read(JSON.parse(carried)), (answer) => answer ?? fromRequest())
  }

  async #run (key: string, fn: () => unknown): Promise<unknown> {
    const result = await runOnce(key, fn)
    this.#work.carried.results.set(key, result === undefined ? '[]' : JSON.stringify([result]))
    return result
  }
}

function then<T, U> (value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}

function fromResultJson (json: string): unknown {
  const boxed: unknown = JSON.parse(json)
  return Array.isArray(boxed) ? boxed[0] : undefined
}

function tooLarge (bytes: number, limit: number, { answers, results }: RequestState): Error {
  const parts = [
    ...Array.from(results, ([key, json]) => ({ what: `once ${JSON.stringify(key)}`, json })),
    ...Array.from(answers, ([key, json]) => ({ what: `the answer ${JSON.stringify(key)}`, json }))
  ]
  const [largest] = parts.toSorted((a, b) => b.json.length - a.json.length)
  return new Error(`What this request must carry to its next round is ${bytes} bytes, the limit is ${limit}; the largest part is ${largest?.what ?? 'unknown'}. ` +
    'Keep large values under a handle (defineHandle), and let `once` return its id.')
}
