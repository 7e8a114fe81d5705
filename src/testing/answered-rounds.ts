// Answers the questions of a handler, round by round, until the request has its result.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr

import type { Reply, TestRequest } from './exchange.ts'
import { AnswerError, QuestionError, RequestError } from './test-errors.ts'
import type { AnswerOptions } from './test-options.ts'
import {
  isUpload, toTestQuestion, type InputRequestJson, type TestAnswer, type TestQuestion, type TestUpload
} from './test-question.ts'

/** How often `answer` is called for one question: the service repeats it until an answer fits. */
const MAX_ATTEMPTS = 10

interface InputRequiredJson {
  readonly resultType: 'input_required'
  readonly inputRequests: { readonly [key: string]: InputRequestJson }
  readonly requestState?: string
}

interface TaskJson { readonly resultType: 'task', readonly taskId: string }

type RoundJson<R> = (R & { readonly resultType: 'complete' }) | InputRequiredJson | TaskJson

/** What a round and the end of a task have in common: the answers are used in both. */
export interface Rounds<R> {
  /** Sends one round. */
  send (round: TestRequest): Promise<Reply>
  /** Sends the file of an answer to the URL of its question. */
  upload (url: unknown, file: TestUpload): Promise<void>
  /** Resolves to the result of the task that the request has become. */
  follow (taskId: string, answers: Answers): Promise<R>
}

/** Resolves to the result. */
export async function runRounds<R extends object> (
  request: TestRequest, options: AnswerOptions, { send, follow, upload }: Rounds<R>
): Promise<R> {
  const answers = new Answers(options, upload)
  let round = request
  for (;;) {
    const reply = await send(round)
    if ('error' in reply) throw new RequestError(reply.error)
    const result: RoundJson<R> = JSON.parse(reply.json)
    if (result.resultType !== 'input_required') {
      const end = result.resultType === 'task' ? await follow(result.taskId, answers) : result
      answers.assertUsed(end)
      return end
    }
    const { inputRequests, requestState } = result
    const inputResponses = await answers.to(inputRequests)
    round = { ...request, params: { ...request.params, inputResponses, requestState } }
  }
}

export class Answers {
  readonly #given: ReadonlyMap<string, TestAnswer>
  readonly #answer: AnswerOptions['answer']
  /** How often each question was asked. */
  readonly #asked = new Map<string, number>()

  readonly #upload: Rounds<never>['upload']

  constructor ({ answers = {}, answer }: AnswerOptions, upload: Rounds<never>['upload']) {
    this.#upload = upload
    this.#given = new Map(Object.entries(answers))
    this.#answer = answer
  }

  async to (requests: InputRequiredJson['inputRequests']): Promise<{ [key: string]: TestAnswer }> {
    const found: Array<[string, TestAnswer]> = []
    for (const [key, request] of Object.entries(requests)) {
      found.push([key, await this.#find(toTestQuestion(key, request))])
    }
    return Object.fromEntries(found)
  }

  async #find (question: TestQuestion): Promise<TestAnswer> {
    const { key } = question
    const attempts = (this.#asked.get(key) ?? 0) + 1
    this.#asked.set(key, attempts)
    const given = this.#given.get(key)
    const limit = given === undefined ? MAX_ATTEMPTS : 1
    if (attempts > limit) throw new QuestionError(question, describeMisfit(question))
    const answer = given ?? await this.#answer?.(question)
    if (answer === undefined) throw new QuestionError(question, 'The test has no answer to it.')
    if (!isUpload(answer)) return answer
    await this.#upload(question.params.url, answer.file)
    return { action: 'accept' }
  }

  /** Throws an AnswerError if the handler has not asked for an answer that was given. */
  assertUsed (result: object): void {
    const unused = [...this.#given.keys()].filter((key) => !this.#asked.has(key))
    if (unused.length === 0) return
    const isError = 'isError' in result && result.isError === true
    const ending = isError ? ` The call ended with a tool error: ${JSON.stringify(result)}` : ''
    throw new AnswerError(unused, [...this.#asked.keys()], ending)
  }
}

function describeMisfit ({ kind, params }: TestQuestion): string {
  const schema = kind === 'form' ? ` to the schema ${JSON.stringify(params.requestedSchema)}` : ''
  return `It is asked again: the answer of the test does not fit${schema}.`
}
