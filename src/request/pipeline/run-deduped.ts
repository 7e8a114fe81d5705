// Runs a call of a tool with `dedupe` once: its repetitions get the first answer.

import { isToolError, ToolError } from '../../platform/author/tool-error.ts'
import { isUpstreamOutage } from '../../platform/author/upstream-error.ts'
import { timers } from '../../base/time.ts'
import {
  KeyReused, LEASE_MS, type FirstAnswers, type FirstRun
} from '../../platform/store/records/first-answers.ts'
import { isOutage } from '../../platform/store/records/handle-kind.ts'
import { HandlerTimeout } from './lifetime.ts'
import type { RequestContext } from './request-context.ts'
import { untilStopped } from './run-handler.ts'

/** Longer keys are refused, in characters. A UUID has 36. */
const MAX_KEY_LENGTH = 255

/** How long a stopped handler is waited for before the call is answered, in milliseconds. */
const SETTLE_MS = 100

/** A repetition may run when the lease of a lost replica is over. */
const RETRY_SECONDS = LEASE_MS / 1000

interface DedupedCall {
  readonly tool: string
  /** A hash of what results look like in this release. */
  readonly outputHash: string
  readonly args: unknown
  readonly timeoutMs: number
  /** Returns `''`, or a question that the client must answer first. Throws if the caller is not allowed. */
  authorize (): string | Promise<string>
  /** Called once `authorize` has allowed the call. */
  run (): string | Promise<string>
  /** Returns or resolves to the result for an error that the model can act on. Throws any other error. */
  recover (error: unknown): string | Promise<string>
}

/** A call without a key is an ordinary one. */
export function runDeduped (
  answers: FirstAnswers, request: RequestContext, call: DedupedCall
): string | Promise<string> {
  return runOnce(answers, request, call, readCallKey(request, call.args))
}

async function runOnce (
  answers: FirstAnswers, request: RequestContext, call: DedupedCall, callKey: readonly unknown[] | undefined
): Promise<string> {
  const { tool, outputHash, args, timeoutMs, authorize, run, recover } = call
  // Also a repetition is asked: the same subject may come with other claims.
  const question = await authorize()
  if (question !== '') return question
  if (callKey === undefined) return await run()
  const { caller, revision, observed, lifetime, log } = request
  const key = [tool, outputHash, revision, ...callKey]
  const onUnkept = (cause: Error) => {
    log.warn({ err: cause, tool }, 'answer not kept: a repeated call runs again')
  }
  let isRepetition = false
  const beginning = answers.begin({ sender: caller, key, args, timeoutMs, onUnkept }, () => {
    isRepetition = true
    return lifetime.signal
  })
  lifetime.limit(timeoutMs)
  const first = await untilStopped(request, beginning).catch((error: unknown) => {
    // The request was stopped before the run began: nobody runs it.
    beginning.then(async (late) => { if ('drop' in late) await late.drop() }).catch(() => {})
    if (isRepetition && error instanceof HandlerTimeout) throw firstCallOpen()
    throw error instanceof KeyReused ? reusedKey() : error
  })
  if ('result' in first) {
    observed.special = 'repeated'
    observed.isToolError = first.isError
    return first.result
  }
  // The repetition of a client that lost its connection waits for this run.
  lifetime.outliveClient()
  let result: string
  try {
    result = await run()
  } catch (error) {
    // A time limit, an outage and an internal error are not answers: the next attempt may have one.
    if (!isToolError(error) || isOutage(error) || isUpstreamOutage(error)) {
      await dropWhenIdle(first, request)
      throw error
    }
    result = await recover(error)
  }
  // A question to the client is not kept, nor is a refusal: `authorize` may decide otherwise next time.
  if (observed.special !== undefined) {
    await dropWhenIdle(first, request)
    return result
  }
  const answer = await first.keep({ result, isError: observed.isToolError })
  observed.isToolError = answer.isError
  return answer.result
}

/**
 * Drops the record once the handler has ended: one that ignores its signal still has effects. Waits for one
 * that heeds it: a process that stops closes its store after the last answer.
 */
async function dropWhenIdle (first: FirstRun, { lifetime }: RequestContext): Promise<void> {
  const idle = new Promise<void>((resolve) => { lifetime.onIdle(resolve) })
  await Promise.race([idle.then(async () => await first.drop()), timers.pause(SETTLE_MS)])
}

/**
 * Reads what tells the call from others: `['key', …]`, or `['id', …]` without a key of the client. Such a
 * call is known by its session, its id and its arguments. An id without a session says nothing: other clients
 * of the same principal or address use the same ids. Throws a ToolError for a malformed key.
 */
export function readCallKey (
  { id, caller: { headers, sessionId } }: RequestContext, args: unknown
): readonly unknown[] | undefined {
  const key = headers?.['idempotency-key']
  if (key === undefined) return sessionId === undefined ? undefined : ['id', sessionId, id, args]
  // Node and proxies join repeated headers with a comma.
  if (typeof key === 'string' && key !== '' && key.length <= MAX_KEY_LENGTH && !key.includes(',')) {
    return ['key', key]
  }
  throw new ToolError(
    `The header Idempotency-Key must come once and have 1 to ${MAX_KEY_LENGTH} characters, without commas.`
  )
}

function firstCallOpen (): ToolError {
  return new ToolError(
    'This call did not run. It repeats a call that is not known to have ended. ' +
    `Repeat it in ${RETRY_SECONDS} seconds.`
  )
}

export function reusedKey (): ToolError {
  return new ToolError(
    'The Idempotency-Key belongs to a call with other arguments. Use a new key for each call.'
  )
}
