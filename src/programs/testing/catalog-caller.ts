// A caller in a test: one method for each thing that a client asks of a catalog.

import type { Completion } from '../../platform/protocol/completion.ts'
import { CONTINUE_TOOL, readCall } from '../../catalog/compiled/definitions/continue-tool.ts'
import { answerRounds, runRounds, type Answers, type BegunCall } from './answered-rounds.ts'
import { readCallText, type CallText } from './call-text.ts'
import type { TestCaller } from './catalog.ts'
import { RequestError, toTestSender, type Exchange, type TestSender } from './exchange.ts'
import { followCall, giveAnswers, type CallContinuation } from './follow-call.ts'
import { assertAnswerNames } from './known-names.ts'
import type { AnswerOptions, TestCallOptions, TestCallerOptions, TestClient } from './options.ts'
import {
  HandlerReport, type CallResult, type CatalogLists, type PromptResult, type ReadResult, type ResultsJson
} from './results.ts'
import { followTask, type SendTaskRequest, type TestTask, type TestTaskState } from './task.ts'

export class CatalogCaller implements TestCaller {
  readonly #exchange: Exchange
  readonly #sender: TestSender

  constructor (exchange: Exchange, caller?: TestCallerOptions, client?: TestClient) {
    this.#exchange = exchange
    this.#sender = toTestSender(caller, client)
  }

  as (caller?: TestCallerOptions, client?: TestClient): TestCaller {
    return new CatalogCaller(this.#exchange, caller, client)
  }

  async call<T> (name: string, args?: object, options?: TestCallOptions): Promise<CallResult<T>>
  async call (
    name: string, args: object = {}, { idempotencyKey, ...options }: TestCallOptions = {}
  ): Promise<CallResult> {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }
    const params = { name, arguments: args }
    // A test that calls this tool by itself wants its own results.
    const follow = name === CONTINUE_TOOL ? toOwnResult : undefined
    const { report, result } = await this.#ask('tools/call', params, options, headers, follow)
    return toCallResult(report, result)
  }

  async begin (name: string, args: object = {}, options: AnswerOptions = {}): Promise<TestTask> {
    const tasks: TestTask[] = []
    await this.#ask('tools/call', { name, arguments: args }, options, {}, async (call, answers) => {
      await this.#answerOpen(call, answers)
      tasks.push(this.#toTask(call, answers))
      // In place of the result of the task.
      return JSON.parse(JSON.stringify({ taskId: '' }))
    })
    const [task] = tasks
    if (task !== undefined) return task
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
    values: { readonly [name: string]: string } = {}
  ): Promise<Completion> {
    const ref = 'prompt' in of
      ? { type: 'ref/prompt', name: of.prompt }
      : { type: 'ref/resource', uri: of.template }
    const params = { ref, argument: { name: argument, value: typed }, context: { arguments: values } }
    const { completion } = await this.#send<ResultsJson['completion/complete']>('completion/complete', params)
    return completion
  }

  async #ask<M extends keyof ResultsJson> (
    method: M, params: object, options: AnswerOptions, headers = {}, follow?: Follow
  ): Promise<{ readonly report: HandlerReport, readonly result: ResultsJson[M] }> {
    assertAnswerNames(options)
    const report = new HandlerReport()
    const { signal, meta = {} } = options
    const request = { method, params, meta, headers, ...signal !== undefined && { signal } }
    const result = await runRounds<ResultsJson[M]>(request, options, {
      send: async (round) => await this.#exchange.send(round, this.#sender, report),
      upload: this.#exchange.upload,
      follow: follow ?? (async (call, answers) => await this.#followToEnd(call, answers, report, options))
    })
    return { report, result }
  }

  readonly #send: SendTaskRequest = async (method, params) => {
    const reply = await this.#exchange.send({ method, params }, this.#sender, new HandlerReport())
    if ('error' in reply) throw new RequestError(reply.error)
    return JSON.parse(reply.json)
  }

  /** The error of a task that failed has no cause. It names the request that failed. */
  async #followToEnd<R extends object> (
    call: BegunCall, answers: Answers, report: HandlerReport, options: AnswerOptions
  ): Promise<R> {
    try {
      return await this.#follow<R>(call, answers, report, options)
    } catch (error) {
      if (error instanceof RequestError) error.cause ??= this.#exchange.findCause?.(error.data)
      throw error
    }
  }

  async #follow<R extends object> (
    call: BegunCall, answers: Answers, report: HandlerReport, options: AnswerOptions
  ): Promise<R> {
    const { isRemote = false, onText = () => {}, onTask = () => {} } = this.#exchange
    if ('text' in call) {
      const send = async (args: CallContinuation) => await this.#continue<R>(args, answers, report, options)
      return await followCall(call.text, answers, { send, isRemote, onText })
    }
    const answer = async (requests: Parameters<Answers['to']>[0]) => await answers.to(requests)
    return await followTask(this.#send, call.taskId, { isRemote, onTask, answer })
  }

  /** Calls the tool that continues calls, as a client of this caller does. */
  async #continue<R extends object> (
    args: CallContinuation, answers: Answers, report: HandlerReport, { signal, meta = {} }: AnswerOptions
  ): Promise<R> {
    const params = { name: CONTINUE_TOOL, arguments: args }
    const request = { method: 'tools/call', params, meta, ...signal !== undefined && { signal } }
    return await answerRounds<R>(
      request, answers, async (round) => await this.#exchange.send(round, this.#sender, report)
    )
  }

  /** Gives the answers that the call was begun with: what it does next may wait for the clock of the test. */
  async #answerOpen (call: BegunCall, answers: Answers): Promise<void> {
    let requests = 'text' in call ? call.text.requests : await this.#readQuestions(call.taskId)
    while (Object.keys(requests).length > 0 && answers.covers(requests)) {
      requests = await this.#give(call, await answers.to(requests), answers)
    }
  }

  /** Resolves to the questions that are open then. */
  async #give (
    call: BegunCall, responses: Parameters<TestTask['update']>[0], answers: Answers
  ): Promise<CallText['requests']> {
    if ('text' in call) {
      const send = async (args: CallContinuation) => (
        await this.#continue<ResultsJson['tools/call']>(args, answers, new HandlerReport(), {})
      )
      return readCallText(await giveAnswers(call.text.call, responses, send))?.requests ?? {}
    }
    await this.#send('tasks/update', { taskId: call.taskId, inputResponses: responses })
    await this.#exchange.settleTask?.(call.taskId)
    return await this.#readQuestions(call.taskId)
  }

  async #readQuestions (taskId: string): Promise<CallText['requests']> {
    const { inputRequests = {} } = await this.#send<TestTaskState>('tasks/get', { taskId })
    return inputRequests
  }

  /** @param begunWith the answers that the call has begun with. */
  #toTask (call: BegunCall, begunWith: Answers): TestTask {
    const isContinued = 'text' in call
    const taskId = isContinued ? readCall(call.text.call).taskId : call.taskId
    return {
      id: taskId,
      get: async () => await this.#send('tasks/get', { taskId }),
      update: async (answers) => { await this.#give(call, answers, begunWith) },
      cancel: async () => {
        const args = { call: taskId, cancel: true } as const
        if (isContinued) await this.#continue(args, begunWith, new HandlerReport(), {})
        else await this.#send('tasks/cancel', { taskId })
      },
      result: async (options = {}) => {
        const answers = begunWith.extend(options)
        const report = new HandlerReport()
        // Its questions may have been answered since.
        const latest = isContinued ? { ...call, text: { ...call.text, requests: {} } } : call
        const result = await this.#followToEnd<ResultsJson['tools/call']>(latest, answers, report, options)
        answers.assertUsed(result)
        return toCallResult(report, result)
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

type Follow = <R extends object>(call: BegunCall<R>, answers: Answers) => Promise<R>

const toOwnResult: Follow = async (call) => {
  if ('text' in call) return call.result
  throw new TypeError(`${CONTINUE_TOOL} never makes a task`)
}

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
