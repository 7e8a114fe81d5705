// Follows a call that goes on after its answer, as the model of a plain host does.

import { timers } from '../../base/time.ts'
import { readCall } from '../../catalog/compiled/definitions/continue-tool.ts'
import type { Answers } from './answered-rounds.ts'
import { readCallText, type CallText } from './call-text.ts'
import type { TestAnswer } from './question.ts'

/** The arguments of the tool that continues calls. */
export interface CallContinuation {
  readonly call: string
  readonly answers?: { readonly [name: string]: unknown }
  readonly decline?: true
  readonly cancel?: true
}

type CallAction = Omit<CallContinuation, 'call'>

/** Between two looks at a call at work, in milliseconds. A remote service lets each of them wait. */
const LOOK_MS = 2
const REMOTE_LOOK_MS = 1000

interface Following<R> {
  /** Calls the tool that continues calls. Resolves to its result. */
  send (args: CallContinuation): Promise<R>
  readonly isRemote: boolean
  /** Is told each text for the model. */
  onText (text: string): void
}

/** Resolves to the result of the call. The answers of the test are those of the user in the conversation. */
export async function followCall<R extends object> (
  text: CallText, answers: Answers, { send, isRemote, onText }: Following<R>
): Promise<R> {
  const declined = new Set<string>()
  let next: CallText | undefined = text
  for (;;) {
    onText(next.text)
    const questions = Object.entries(next.requests)
    if (questions.length === 0) await timers.pause(isRemote ? REMOTE_LOOK_MS : LOOK_MS)
    const open = questions.filter(([name]) => !declined.has(name))
    const action = toAction(open.length === 0 ? {} : await answers.to(Object.fromEntries(open)), declined)
    const { call }: CallText = next
    const result = await send({ call, ...action })
    // This result says that the work stops. The result of the call is the error of a cancelled one.
    if (action.cancel === true) return await send({ call })
    next = readCallText(result)
    if (next === undefined || readCall(next.call).taskId !== readCall(call).taskId) return result
  }
}

/**
 * Gives answers to the call, and resolves to what the call says next. A user who cancels a question wants the
 * work to stop.
 */
export async function giveAnswers<R> (
  call: string, answers: { readonly [name: string]: TestAnswer }, send: Following<R>['send']
): Promise<R> {
  const declined = new Set<string>()
  const action = toAction(answers, declined)
  const result = await send({ call, ...action })
  return declined.size > 0 && action.cancel !== true ? await send({ call, decline: true }) : result
}

/** @param declined gets the questions that are declined: one argument declines all that are still open. */
function toAction (answers: { readonly [name: string]: TestAnswer }, declined: Set<string>): CallAction {
  const accepted: Array<readonly [name: string, content: unknown]> = []
  for (const [name, answer] of Object.entries(answers)) {
    const action = 'action' in answer ? answer.action : 'accept'
    if (action === 'cancel') return { cancel: true }
    if (action === 'decline') declined.add(name)
    else accepted.push([name, 'content' in answer ? answer.content : {}])
  }
  if (accepted.length > 0) return { answers: Object.fromEntries(accepted) }
  if (declined.size === 0) return {}
  declined.clear()
  return { decline: true }
}
