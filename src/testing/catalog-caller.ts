// A caller in a test: one method for each thing that a client asks of a catalog.

import type { Completion } from '../protocol/completion.ts'
import { Answers, runRounds } from './answered-rounds.ts'
import type { TestCaller } from './catalog.ts'
import { RequestError, toTestSender, type Exchange, type TestSender } from './exchange.ts'
import type { AnswerOptions, TestCallOptions, TestClient, TestPrincipal } from './options.ts'
import {
  HandlerReport, type CallResult, type CatalogLists, type PromptResult, type ReadResult, type ResultsJson
} from './results.ts'
import { followTask, type SendTaskRequest, type TestTask } from './task.ts'

export class CatalogCaller implements TestCaller {
  readonly #exchange: Exchange
  readonly #sender: TestSender

  constructor (exchange: Exchange, principal?: TestPrincipal, client?: TestClient) {
    this.#exchange = exchange
    this.#sender = toTestSender(principal, client)
  }

  as (principal?: TestPrincipal, client?: TestClient): TestCaller {
    return new CatalogCaller(this.#exchange, principal, client)
  }

  async call<T> (name: string, args?: object, options?: TestCallOptions): Promise<CallResult<T>>
  async call (
    name: string, args: object = {}, { idempotencyKey, ...options }: TestCallOptions = {}
  ): Promise<CallResult> {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    const { report, result } = await this.#ask('tools/call', { name, arguments: args }, options, headers)
    return toCallResult(report, result)
  }

  async begin (name: string, args: object = {}, options: AnswerOptions = {}): Promise<TestTask> {
    const params = { name, arguments: args }
    let answers = new Answers(options, this.#exchange.upload)
    const { result } = await this.#ask('tools/call', params, options, {}, async (taskId, begun) => {
      answers = begun
      // In place of the result of the task.
      return JSON.parse(JSON.stringify({ taskId }))
    })
    if ('taskId' in result) return this.#toTask(String(result.taskId), answers)
    throw new Error(`${name} made no task: the call ended within the grace time (taskGraceMs), or it cannot`)
  }

  async prompt (
    name: string, args: { readonly [name: string]: string } = {}, options: AnswerOptions = {}
  ): Promise<PromptResult> {
    const { report, result } = await this.#ask('prompts/get', { name, arguments: args }, options)
    const { messages, description, _meta } = result
    const text = textOf(messages.map(({ content }) => content))
    return { ...report, messages, ...description !== undefined && { description }, text, ...toMeta(_meta) }
  }

  async read (uri: string, options: AnswerOptions = {}): Promise<ReadResult> {
    const { report, result: { contents, _meta } } = await this.#ask('resources/read', { uri }, options)
    return { ...report, contents, text: textOf(contents), ...toMeta(_meta) }
  }

  async list (): Promise<CatalogLists> {
    await this.#exchange.settleLists()
    return {
      tools: await this.#pages('tools/list', ({ tools }) => tools),
      prompts: await this.#pages('prompts/list', ({ prompts }) => prompts),
      resources: await this.#pages('resources/list', ({ resources }) => resources),
      templates: await this.#pages('resources/templates/list', ({ resourceTemplates }) => resourceTemplates),
      skills: await this.#pages('skills/list', ({ skills }) => skills)
    }
  }

  async complete (
    of: { readonly prompt: string } | { readonly template: string }, argument: string, typed: string,
    others: { readonly [name: string]: string } = {}
  ): Promise<Completion> {
    const ref = 'prompt' in of
      ? { type: 'ref/prompt', name: of.prompt }
      : { type: 'ref/resource', uri: of.template }
    const params = { ref, argument: { name: argument, value: typed }, context: { arguments: others } }
    const { completion } = await this.#send<ResultsJson['completion/complete']>('completion/complete', params)
    return completion
  }

  async #ask<M extends keyof ResultsJson> (
    method: M, params: object, options: AnswerOptions, headers = {}, follow: Follow = this.#follow
  ): Promise<{ readonly report: HandlerReport, readonly result: ResultsJson[M] }> {
    const report = new HandlerReport()
    const { signal, meta = {} } = options
    const request = { method, params, meta, headers, ...signal !== undefined && { signal } }
    const result = await runRounds<ResultsJson[M]>(request, options, {
      send: async (round) => await this.#exchange.send(round, this.#sender, report),
      upload: this.#exchange.upload,
      follow
    })
    return { report, result }
  }

  readonly #send: SendTaskRequest = async (method, params) => {
    const reply = await this.#exchange.send({ method, params }, this.#sender, new HandlerReport())
    if ('error' in reply) throw new RequestError(reply.error)
    return JSON.parse(reply.json)
  }

  readonly #follow: Follow = async (taskId, answers) =>
    await followTask(
      this.#send, taskId, async (requests) => await answers.to(requests), this.#exchange.isRemote
    )

  /** @param begun the answers that the task has begun with. */
  #toTask (id: string, begun: Answers): TestTask {
    return {
      id,
      get: async () => await this.#send('tasks/get', { taskId: id }),
      update: async (inputResponses) => { await this.#send('tasks/update', { taskId: id, inputResponses }) },
      cancel: async () => { await this.#send('tasks/cancel', { taskId: id }) },
      result: async (options = {}) => {
        const answers = begun.extend(options)
        const result = await this.#follow<ResultsJson['tools/call']>(id, answers)
        answers.assertUsed(result)
        return toCallResult(new HandlerReport(), result)
      }
    }
  }

  async #pages<M extends `${string}/list` & keyof ResultsJson, E> (
    method: M, entriesOf: (page: ResultsJson[M]) => readonly E[]
  ): Promise<readonly E[]> {
    const entries: E[] = []
    let cursor: string | undefined
    do {
      const page = await this.#send<ResultsJson[M]>(method, { cursor })
      entries.push(...entriesOf(page))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    return entries
  }
}

type Follow = <R>(taskId: string, answers: Answers) => Promise<R>

function toCallResult (report: HandlerReport, result: ResultsJson['tools/call']): CallResult {
  const { content, structuredContent, isError = false, _meta } = result
  const text = textOf(content)
  return { ...report, content, structuredContent, isError, text, ...toMeta(_meta) }
}

function textOf (parts: ReadonlyArray<object & { readonly text?: unknown }>): string {
  return parts.flatMap(({ text }) => typeof text === 'string' ? [text] : []).join('\n')
}

function toMeta (_meta: ResultsJson['tools/call']['_meta']): Pick<CallResult, '_meta'> {
  return _meta === undefined ? {} : { _meta }
}
