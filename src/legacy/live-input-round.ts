// A handler that asks its client while it runs: by requests on the call's own stream, whose answers are
// waited for.

import { ToolError } from '../authoring/tool-error.ts'
import type { AnswersOf, InputRequest } from '../authoring/input-request.ts'
import type { InputRound } from '../input/input-round.ts'
import { runOnce } from '../input/round-state.ts'
import type { Answer, Question } from '../input/question.ts'
import { readQuestions, type Questions } from '../input/questions.ts'
import type { Lifetime } from '../dispatch/lifetime.ts'
import {
  findMissingCapabilities, mergeCapabilities, type ClientCapabilities
} from '../protocol/capabilities.ts'
import type { Params } from '../protocol/json-rpc.ts'
import { ClientRefusal } from './client-answers.ts'
import { toLegacyRequest } from './legacy-questions.ts'
import type { ClientLine, SessionCaller } from './session-caller.ts'
import type { Session } from './session.ts'

/**
 * A tool error, and whatever else it stops is told as much: the client has what it takes to do something
 * about it.
 */
export class Unanswered extends ToolError {}

/** What is said in place of a missing capability's error, which earlier revisions do not have. */
export function describeLack (missing: ClientCapabilities): string {
  return `This cannot be done with this client: it lacks ${Object.keys(missing).join(', ')}.`
}

/** A client whose answers do not fit is asked so often. */
const MAX_ASKS = 3

export class LiveInputRound implements InputRound {
  readonly pending = undefined
  readonly #questions: Questions
  readonly #session: Session
  readonly #line: ClientLine
  readonly #lifetime: Lifetime
  readonly #asked = new Map<string, { readonly question: Question, readonly answer: Promise<unknown> }>()
  readonly #onces = new Map<string, Promise<unknown>>()

  constructor (questions: Questions, { session, line }: SessionCaller, lifetime: Lifetime) {
    this.#questions = questions
    this.#session = session
    this.#line = line
    this.#lifetime = lifetime
  }

  ask<const R extends { readonly [key: string]: InputRequest }> (requests: R): Promise<AnswersOf<R>>
  async ask (requests: { readonly [key: string]: InputRequest }): Promise<unknown> {
    const questions = readQuestions(this.#questions, requests, (key) => this.#asked.get(key)?.question)
    const { clientCapabilities, revision } = this.#session
    const required = mergeCapabilities(questions.map(([, { requiredCapabilities }]) => requiredCapabilities))
    const missing = findMissingCapabilities(required, clientCapabilities)
    if (missing !== undefined) throw new Unanswered(describeLack(missing))
    const answers = questions.map(
      ([key, question]) => [key, this.#answerTo(key, question, revision)] as const
    )
    // All of them, so that none is left without anybody who waits for it.
    await Promise.allSettled(answers.map(([, answer]) => answer))
    return Object.fromEntries(
      await Promise.all(answers.map(async ([key, answer]) => [key, await answer] as const))
    )
  }

  once<T> (key: string, fn: () => T | Promise<T>): Promise<T>
  once (key: string, fn: () => unknown): Promise<unknown> {
    const known = this.#onces.get(key)
    if (known !== undefined) return known
    const result = runOnce(key, fn)
    this.#onces.set(key, result)
    result.catch(() => this.#onces.delete(key))
    return result
  }

  settle (): undefined {}

  #answerTo (key: string, question: Question, revision: string): Promise<unknown> {
    const known = this.#asked.get(key)
    if (known !== undefined) return known.answer
    const answer = this.#obtain(question, revision)
    this.#asked.set(key, { question, answer })
    return answer
  }

  async #obtain (question: Question, revision: string): Promise<unknown> {
    const request = toLegacyRequest(question.json, revision)
    if (typeof request === 'string') throw new Unanswered(`This cannot be done with this client: ${request}.`)
    for (let asks = 0; asks < MAX_ASKS; asks++) {
      const answer: Answer | undefined = await question.read(await this.#request(request))
      if (answer !== undefined) return answer.value
    }
    throw new Unanswered('The client was asked for something, and its answers did not fit the question.')
  }

  async #request (
    { method, params }: { readonly method: string, readonly params: Params }
  ): Promise<unknown> {
    try {
      return await this.#line.request(method, params, this.#lifetime)
    } catch (error) {
      throw error instanceof ClientRefusal
        ? new Unanswered('The client was asked for something, and did not answer the question.', {
          cause: error
        })
        : error
    }
  }
}
