// Redirects: which are followed, and where to.

import type { UpstreamAnswer } from './answer.ts'
import { AnsweredElsewhere, CallError } from './call-error.ts'
import { readRedirect, type CallTarget } from './target.ts'

const REDIRECTS = new Set([301, 302, 303, 307, 308])

/**
 * Returns where the call goes next. `undefined` if the answer is no redirect. Throws a CallError for one that
 * is not followed.
 * @param target the target that was redirected.
 */
export function findRedirect (
  answer: UpstreamAnswer, method: string, base: URL, target: CallTarget
): CallTarget | undefined {
  const location = answer.header('location')
  if (!REDIRECTS.has(answer.status) || location === undefined) return undefined
  const isSafe = method === 'GET' || method === 'HEAD'
  if (answer.status === 303 && !isSafe) throw new AnsweredElsewhere()
  const next = isSafe ? readRedirect(base, target, location) : undefined
  if (next !== undefined) return next
  throw new CallError('redirected', new Error(`status ${answer.status} is not followed`))
}
