// Calls that some clients cannot make: they ask, take longer than hosts wait, or need tasks.

import type { LocatedTool } from '../compiled/contents.ts'
import type { Advise } from './piece.ts'

/** Hosts give up a call after this time, many of them. The SDKs have it as their default. */
const HOST_WAIT_MS = 60_000

/** `ctx.ask(…)` in the source of a handler. What it calls in other functions is not seen. */
const ASKS = /\.\s*ask\s*\(/
/** No model can pass these on. */
const ONLY_FOR_CLIENTS = /\b(?:sample|roots)\b/
const FOR_USERS = /\b(?:form|url)\s*\(/

/** @param continuesCalls whether the service has the tool that continues calls. */
export function adviseOnCalls (
  { definition }: LocatedTool, continuesCalls: boolean, advise: Advise
): void {
  const { task = 'never', relayQuestions, timeoutMs = 0 } = definition
  if (continuesCalls && relayQuestions === undefined && asksUsers(String(definition.run))) {
    advise('unasked', 'run', 'asks, and clients without elicitation cannot be asked: set relayQuestions: ' +
      "true to let their model ask, 'links' to let it show links, or false for consent, payments and what " +
      'the user must say in person')
  }
  if (continuesCalls && task === 'required') {
    advise('tasks-only', 'task', 'refuses clients of 2026-07-28 without tasks, with error -32021: ' +
      "'allowed' serves every client")
  }
  if (task === 'never' && timeoutMs > HOST_WAIT_MS) {
    const problem = `is more than the ${HOST_WAIT_MS / 1000} seconds that many hosts wait`
    advise('long-call', 'timeoutMs', `${problem}: use task: 'allowed', with ttlMs`)
  }
}

function asksUsers (source: string): boolean {
  return ASKS.test(source) && (FOR_USERS.test(source) || !ONLY_FOR_CLIENTS.test(source))
}
