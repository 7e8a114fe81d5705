// Runs a call of a tool with `dedupe` once: its repetitions get the first answer.

import { isToolError, ToolError } from '../../author/tool-error.ts'
import { KeyReused, type FirstAnswers } from '../../store/records/first-answers.ts'
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

export async function runDeduped (
  answers: FirstAnswers, request: RequestContext, { tool, args, timeoutMs, run, recover }: DedupedCall
): Promise<string> {
  const { caller, revision, observed, lifetime } = request
  const key = [tool, revision, ...readKey(request, args)]
  const beginning = answers.begin({ sender: caller, key, args, timeoutMs }, () => lifetime.signal)
  lifetime.limit(timeoutMs)
  const first = await untilStopped(request, beginning).catch((error: unknown) => {
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
    // A time limit and an internal error are not answers: the next attempt may have one.
    if (!isToolError(error)) {
      await first.drop()
      throw error
    }
    result = recover(error)
  }
  // A question to the client is not kept, nor is a refusal: `authorize` may decide otherwise next time.
  if (observed.special !== undefined) await first.drop()
  else await first.keep({ result, isError: observed.isToolError })
  return result
}

/** Without a key of the client, the arguments are part of the key. */
function readKey ({ id, caller: { headers } }: RequestContext, args: unknown): unknown[] {
  const key = headers?.['idempotency-key']
  if (key === undefined) return ['id', id, args]
  if (typeof key === 'string' && key !== '' && key.length <= MAX_KEY_LENGTH) return ['key', key]
  throw new ToolError(`The header Idempotency-Key must come once and have 1 to ${MAX_KEY_LENGTH} characters.`)
}

function reusedKey (): ToolError {
  return new ToolError(
    'The Idempotency-Key belongs to a call with other arguments. Use a new key for each call.'
  )
}
