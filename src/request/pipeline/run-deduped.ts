// Runs a call of a tool with `dedupe` once: its repetitions get the first answer.

import { isToolError, ToolError } from '../../author/tool-error.ts'
import { KeyReused, type FirstAnswers } from '../../store/records/first-answers.ts'
import { isOutage } from '../../store/records/handle-kind.ts'
import type { RequestContext } from './request-context.ts'
import { untilStopped } from './run-handler.ts'

/** Longer keys are refused, in characters. A UUID has 36. */
const MAX_KEY_LENGTH = 255

interface DedupedCall {
  readonly tool: string
  readonly args: unknown
  readonly timeoutMs: number
  run (): string | Promise<string>
  /** The result for an error that the model can act on. Throws any other error. */
  recover (error: unknown): string
}

/** A call without a key is an ordinary one. */
export function runDeduped (
  answers: FirstAnswers, request: RequestContext, call: DedupedCall
): string | Promise<string> {
  const key = readKey(request, call.args)
  return key === undefined ? call.run() : runOnce(answers, request, call, key)
}

async function runOnce (
  answers: FirstAnswers, request: RequestContext, { tool, args, timeoutMs, run, recover }: DedupedCall,
  callKey: readonly unknown[]
): Promise<string> {
  const { caller, revision, observed, lifetime, log } = request
  const key = [tool, revision, ...callKey]
  const onUnkept = (cause: Error) => {
    log.warn({ err: cause, tool }, 'answer not kept: a repeated call runs again')
  }
  const beginning = answers.begin({ sender: caller, key, args, timeoutMs, onUnkept }, () => lifetime.signal)
  lifetime.limit(timeoutMs)
  const first = await untilStopped(request, beginning).catch((error: unknown) => {
    // The request was stopped before the run began: nobody runs it.
    beginning.then(async (late) => { if ('drop' in late) await late.drop() }).catch(() => {})
    throw error instanceof KeyReused ? reusedKey() : error
  })
  if ('result' in first) {
    observed.special = 'repeated'
    observed.isToolError = first.isError
    return first.result
  }
  let result: string
  try {
    result = await run()
  } catch (error) {
    // A time limit, an outage and an internal error are not answers: the next attempt may have one.
    if (!isToolError(error) || isOutage(error)) {
      await first.drop()
      throw error
    }
    result = recover(error)
  }
  // A question to the client is not kept, nor is a refusal: `authorize` may decide otherwise next time.
  if (observed.special !== undefined) {
    await first.drop()
    return result
  }
  const answer = await first.keep({ result, isError: observed.isToolError })
  observed.isToolError = answer.isError
  return answer.result
}

/**
 * Without a key of the client, a call is known by its session, its id and its arguments. An id without a
 * session says nothing: other clients of the same principal or address use the same ids.
 */
function readKey (
  { id, caller: { headers, sessionId } }: RequestContext, args: unknown
): readonly unknown[] | undefined {
  const key = headers?.['idempotency-key']
  if (key === undefined) return sessionId === undefined ? undefined : ['id', sessionId, id, args]
  if (typeof key === 'string' && key !== '' && key.length <= MAX_KEY_LENGTH) return ['key', key]
  throw new ToolError(`The header Idempotency-Key must come once and have 1 to ${MAX_KEY_LENGTH} characters.`)
}

function reusedKey (): ToolError {
  return new ToolError(
    'The Idempotency-Key belongs to a call with other arguments. Use a new key for each call.'
  )
}
