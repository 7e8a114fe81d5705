// Answers the questions of a handler, round by round, until the request has its result.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr

import { createNearestNames } from '../../base/nearest-names.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import { readCallText, type CallText } from './call-text.ts'
import { RequestError, type Reply, type TestRequest } from './exchange.ts'
import type { AnswerOptions } from './options.ts'
import {
  isUpload, toTestQuestion, type InputRequestJson, type TestAnswer, type TestQuestion, type TestUpload
} from './question.ts'

/** How often `answer` is called for one question: the service repeats it until an answer fits. */
const MAX_ATTEMPTS = 10

interface InputRequiredJson {
  readonly resultType: 'input_required'
  readonly inputRequests: { readonly [key: string]: InputRequestJson }
  readonly requestState?: string
}

interface TaskJson { readonly resultType: 'task', readonly taskId: string }

/** A call that goes on after its answer: a task of its client, or a call that its model continues. */
export type BegunCall<R = unknown> = TaskJson | { readonly text: CallText, readonly result: R }

/** What a round and the end of a begun call have in common: the answers are used in both. */
export interface Rounds<R> {
  /** Sends one round. */
  send (round: TestRequest): Promise<Reply>
  /** Sends the file of an answer to the URL of its question. */
  upload (url: unknown, file: TestUpload): Promise<void>
  /** Resolves to the result of the call that the request has begun. */
  follow (call: BegunCall<R>, answers: Answers): Promise<R>
}

/** Resolves to the result. */
export async function runRounds<R extends object> (
  request: TestRequest, options: AnswerOptions, { send, follow, upload }: Rounds<R>
): Promise<R> {
  const answers = new Answers(options, upload)
  const result = await answerRounds<R | TaskJson>(request, answers, send)
  const text = readCallText(result)
  const end = isTask(result)
    ? await follow(result, answers)
    : text === undefined ? result : await follow({ text, result }, answers)
  // A call that has only begun may still ask.
  if (!('taskId' in end)) answers.assertUsed(end)
  return end
}

/** Resolves to what the request is answered with once nothing more is asked. */
export async function answerRounds<R extends object> (
  request: TestRequest, answers: Answers, send: Rounds<never>['send']
): Promise<R> {
  let round = request
  for (;;) {
    const reply = await send(round)
    if ('error' in reply) throw new RequestError(reply.error)
    const result: R | InputRequiredJson = JSON.parse(reply.json)
    if (!isInputRequired(result)) return result
    const { inputRequests, requestState } = result
    const inputResponses = await answers.to(inputRequests)
    round = { ...request, params: { ...request.params, inputResponses, requestState } }
  }
}

function isTask (result: object): result is TaskJson {
  return 'resultType' in result && result.resultType === 'task'
}

function isInputRequired (result: object): result is InputRequiredJson {
  return 'resultType' in result && result.resultType === 'input_required'
}

/** The answers of a test, and how often each question was asked. */
export class Answers {
  readonly #answers: ReadonlyMap<string, TestAnswer>
  readonly #answer: AnswerOptions['answer']
  /** The number of times that each question was asked, by key. */
  readonly #attempts: Map<string, number>
  readonly #upload: Rounds<never>['upload']

  constructor (
    { answers = {}, answer }: AnswerOptions, upload: Rounds<never>['upload'],
    attempts: ReadonlyMap<string, number> = new Map()
  ) {
    this.#attempts = new Map(attempts)
    this.#upload = upload
    this.#answers = new Map(Object.entries(answers))
    this.#answer = answer
  }

  /** The same answers and more, for a task that goes on. */
  extend ({ answers, answer = this.#answer }: AnswerOptions): Answers {
    const all = { ...Object.fromEntries(this.#answers), ...answers }
    return new Answers({ answers: all, ...answer !== undefined && { answer } }, this.#upload, this.#attempts)
  }

  /** Whether the test has answers to all of these. */
  covers (requests: InputRequiredJson['inputRequests']): boolean {
    return this.#answer !== undefined || Object.keys(requests).every((key) => this.#answers.has(key))
  }

  async to (requests: InputRequiredJson['inputRequests']): Promise<{ [key: string]: TestAnswer }> {
    const answers: Array<[key: string, answer: TestAnswer]> = []
    for (const [key, request] of Object.entries(requests)) {
      answers.push([key, await this.#find(toTestQuestion(key, request))])
    }
    // A server chooses the keys: an assignment to `__proto__` would set the prototype.
    return Object.fromEntries(answers)
  }

  async #find (question: TestQuestion): Promise<TestAnswer> {
    const { key } = question
    const attempts = (this.#attempts.get(key) ?? 0) + 1
    this.#attempts.set(key, attempts)
    const prepared = this.#answers.get(key)
    const limit = prepared === undefined ? MAX_ATTEMPTS : 1
    if (attempts > limit) throw new QuestionError(question, describeMisfit(question))
    const answer = prepared ?? await this.#answer?.(question)
    if (answer === undefined) {
      throw new QuestionError(question, 'The test has no answer to it.', this.#findMisspelt(key))
    }
    if (!isUpload(answer)) return answer
    await this.#upload(question.params.url, answer.file)
    return { action: 'accept' }
  }

  /** Finds the key of an answer that nobody has asked for, and that looks like the key of the question. */
  #findMisspelt (question: string): string | undefined {
    const findNearest = createNearestNames([question])
    return [...this.#answers.keys()].find(
      (key) => !this.#attempts.has(key) && findNearest(key, () => true).length > 0
    )
  }

  /** Throws an AnswerError if the handler has not asked for an answer that was given. */
  assertUsed (result: object): void {
    const unused = [...this.#answers.keys()].filter((key) => !this.#attempts.has(key))
    if (unused.length === 0) return
    const isError = 'isError' in result && result.isError === true
    const ending = isError ? ` The call ended with a tool error: ${JSON.stringify(result)}` : ''
    throw new AnswerError(unused, [...this.#attempts.keys()], ending)
  }
}

function describeMisfit ({ kind, params }: TestQuestion): string {
  const schema = kind === 'form' ? ` to the schema ${JSON.stringify(params.requestedSchema)}` : ''
  return `It is asked again: the answer of the test does not fit${schema}.`
}

/** The handler asked a question, and the test has no answer to it, or none that fits. */
export class QuestionError extends Error {
  readonly question: TestQuestion
  /** The key of an answer of the test that may be meant for the question. */
  readonly misspelt: string | undefined

  constructor (question: TestQuestion, problem: string, misspelt?: string) {
    const { key, kind, message } = question
    const text = `The handler asks ${JSON.stringify(key)} (${kind})${message === '' ? '' : `: ${message}`}`
    const example = `{ answers: { ${toMember(key)}: ${exampleAnswer(question)} } }`
    const hint = misspelt === undefined ? '' : ` Is the answer ${JSON.stringify(misspelt)} meant for it?`
    super(`${text}\n${problem}${hint} Answer it in the options of the call: ${example}`)
    this.name = 'QuestionError'
    this.question = question
    this.misspelt = misspelt
  }
}

/**
 * The request was served, and answers of the test were not used: the handler has asked no questions with
 * their keys.
 */
export class AnswerError extends Error {
  /** The keys of the answers. */
  readonly keys: readonly string[]

  /** @param ending how the request ended, for the message. */
  constructor (keys: readonly string[], names: readonly string[], ending: string) {
    const questions = names.length === 0 ? 'nothing' : toList(names)
    super(`Answers were not used: ${toList(keys)}. The handler asked ${questions}.${ending}`)
    this.name = 'AnswerError'
    this.keys = keys
  }
}

function toList (keys: readonly string[]): string {
  return keys.map((key) => JSON.stringify(key)).join(', ')
}

/** An answer that the question could have, as source text. */
function exampleAnswer ({ kind, params: { requestedSchema } }: TestQuestion): string {
  switch (kind) {
    case 'form': return `{ action: 'accept', content: ${toExampleContent(requestedSchema)} }`
    case 'url': return "{ action: 'accept' }"
    case 'sample': return "{ role: 'assistant', content: { type: 'text', text: '…' }, model: '…' }"
    case 'roots': return "{ roots: [{ uri: 'file:///…' }] }"
  }
}

function toExampleContent (schema: unknown): string {
  const fields = isObject(schema) && isObject(schema.properties) ? Object.keys(schema.properties) : []
  return fields.length === 0 ? '{}' : `{ ${fields.map((field) => `${toMember(field)}: …`).join(', ')} }`
}

/** A key of an object literal. */
function toMember (key: string): string {
  return /^[a-z_$][\w$]*$/i.test(key) ? key : JSON.stringify(key)
}
