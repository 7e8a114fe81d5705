// The tool of the service that continues calls: it waits for a call of another tool, brings answers to its
// questions, or cancels it.

import { ToolError } from '../../../platform/author/tool-error.ts'
import { quote } from '../../../base/words.ts'
import { textResult } from '../../../catalog/compiled/results/tool-result-json.ts'
import { UnknownTask } from '../../../platform/protocol/errors.ts'
import { isTerminal } from '../../../platform/protocol/tasks.ts'
import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import type { OpenRound } from '../../../request/pipeline/seams.ts'
import type { InputRound } from '../../../request/questions/input-round.ts'
import { createParamsReader } from '../../../platform/schema/reader.ts'
import { Type } from '../../../platform/schema/type.ts'
import type { SeenTask, TaskAccess } from '../clients/access.ts'
import { partQuestions, readRelayedAnswers } from './relayed-questions.ts'
import { cancelledText, questionsText, untakenText, type CallQuestion } from './texts.ts'
import { readCall } from '../../../catalog/compiled/definitions/continue-tool.ts'
import { toCallResult } from './answers.ts'
import type { CallWaiters } from './waiters.ts'
import { findLateAnswers, type Responses } from '../machine/questions.ts'

interface ContinuedCallsDependencies {
  readonly access: TaskAccess
  readonly waiters: CallWaiters
}

const readArguments = createParamsReader(Type.Object({
  call: Type.String(),
  answers: Type.Optional(Type.Record(Type.Unknown())),
  decline: Type.Optional(Type.Boolean()),
  cancel: Type.Optional(Type.Boolean())
}))

/** How long a call that was cancelled is kept, in milliseconds: its model may ask again. */
const CANCELLED_MS = 60_000

export class ContinuedCalls {
  readonly #dependencies: ContinuedCallsDependencies

  constructor (dependencies: ContinuedCallsDependencies) {
    this.#dependencies = dependencies
  }

  /**
   * Resolves to the result of the request. Rejects with a ToolError for a call that the caller may not see.
   * @param args have passed the check of the tool's schema.
   */
  async continue (request: RequestContext, args: unknown, openRound: OpenRound): Promise<string> {
    const { call, answers, decline = false, cancel = false } = readArguments(args)
    if ([answers !== undefined, decline, cancel].filter(Boolean).length > 1) {
      throw new ToolError('Give only one of answers, decline and cancel.')
    }
    const { access, waiters } = this.#dependencies
    const task = await access.see(request.principal, readCall(call).taskId).catch(toUnknownCall)
    observeTool(request, task.record.tool)
    if (cancel && !isTerminal(task.record.status)) {
      await access.cancel(request.principal, task.key.id)
      const ended = await access.see(request.principal, task.key.id)
      if (ended.record.relayed !== undefined) waiters.putAway(ended, CANCELLED_MS)
      // It may have ended before.
      if (ended.record.status !== 'cancelled') return toCallResult(request, ended.record)
      return textResult(request.writer, cancelledText(task.record.tool))
    }
    const hasAnswer = answers !== undefined || decline
    const options = { isError: false, hasAnswer }
    return await waiters.follow(request, openRound(request), call, options, async (round) => {
      if (!hasAnswer) return undefined
      // Once: the request may come again, with answers of its client to later questions.
      return await round.once('answers', async () => await this.#give(request, round, task, call, answers))
    })
  }

  /**
   * Keeps the answers that a model brings, or declines all questions. Resolves to what the model is told if
   * some answers do not fit, or came after others, or to `null`.
   */
  async #give (
    request: RequestContext, round: InputRound, { key, record }: SeenTask, call: string,
    answers: { readonly [name: string]: unknown } | undefined
  ): Promise<string | null> {
    const { access } = this.#dependencies
    // No model answers for a client that asks its user itself.
    const { relayed: questions } = partQuestions(request, round, record)
    const isAnswered = ([name]: readonly [string, unknown]) => record.questions[name]?.isAnswered === true
    const pairs = Object.entries(answers ?? {})
    const { responses, problems } = answers === undefined
      ? { responses: toDeclined(questions), problems: [] }
      // If nothing is asked, these are the answers of a repeated request, or of one that came second.
      : await readRelayedAnswers(
        questions, Object.fromEntries(questions.length === 0 ? [] : pairs.filter((pair) => !isAnswered(pair)))
      )
    const isUpdate = Object.keys(responses).length > 0
    const current = isUpdate ? await access.update(request.principal, key.id, responses) : record
    const isModel = record.client.isUnattended === true ||
      request.envelope.clientCapabilities.elicitation === undefined
    const repeated = isModel
      ? pairs.filter(isAnswered).map(([name, content]) => [name, { action: 'accept', content }] as const)
      : []
    const late = findLateAnswers(current, { ...responses, ...Object.fromEntries(repeated) })
    const all = [...problems, ...late.map((name) => `${quote(name)} had an answer before, which counts`)]
    if (all.length === 0) return null
    request.observed.special = 'relayed'
    const open = questions.filter(({ name }) => !Object.hasOwn(responses, name))
    const { tool } = record
    return open.length === 0 ? untakenText(tool, call, all) : questionsText(tool, call, open, all)
  }
}

function toDeclined (questions: readonly CallQuestion[]): Responses {
  return Object.fromEntries(questions.map(({ name }) => [name, { action: 'decline' }]))
}

/** The observers of the request are told of the tool whose call goes on. */
function observeTool ({ observed, observed: { callArguments }, view }: RequestContext, tool: string): void {
  const rule = view.tool(tool)?.audit
  observed.subject = tool
  if (rule !== undefined && callArguments !== undefined) {
    observed.callArguments = { ...callArguments, rule: { ...rule, names: callArguments.rule.names } }
  }
}

/** The one answer for an unknown and an expired call and for that of another caller. */
function toUnknownCall (error: unknown): never {
  if (!(error instanceof UnknownTask)) throw error
  throw new ToolError(
    'There is no such call: it never existed, has expired, or belongs to another caller. Call its tool again.'
  )
}
