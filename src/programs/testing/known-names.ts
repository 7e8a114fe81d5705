// Refuses misspelt names in what a test passes: nobody would read them, and the test would say nothing.

import { createNearestNames } from '../../base/nearest-names.ts'
import { quote } from '../../base/words.ts'
import { ConfigError, OPTION_NAMES } from '../../ops/config/config.ts'
import { adviceFor } from '../../ops/config/unknown-variables.ts'

/** The options of `openCatalog` that `createApp` does not have, and the logger. */
const OWN_NAMES = ['taskGraceMs', 'logger', 'settings', 'upstreams']
const CALLER_NAMES = ['subject', 'clientId', 'issuer', 'scopes', 'claims', 'expiresAt', 'host']
const CLIENT_NAMES = ['capabilities', 'info']
const ANSWER_NAMES = ['answers', 'answer', 'meta', 'signal']

/** Returns the problem of the first member that has none of the names. */
function findProblem (
  members: readonly string[], names: readonly string[], subject: string
): string | undefined {
  const wrong = members.find((name) => !names.includes(name))
  if (wrong === undefined) return undefined
  const [nearest] = createNearestNames(names)(wrong, () => true)
  const advice = nearest === undefined ? `: use ${names.join(', ')}` : `; did you mean ${nearest}?`
  return `${quote(wrong)} is no option of ${subject}${advice}`
}

/** Throws a TypeError. */
export function assertCallerNames (caller: object, client: object): void {
  const problem = findProblem(Object.keys(caller), CALLER_NAMES, 'a caller') ??
    findProblem(Object.keys(client), CLIENT_NAMES, 'a client')
  if (problem !== undefined) throw new TypeError(problem)
}

/** Throws a TypeError. */
export function assertAnswerNames (options: object): void {
  const problem = findProblem(Object.keys(options), ANSWER_NAMES, 'a call')
  if (problem !== undefined) throw new TypeError(problem)
}

/** Throws a ConfigError. */
export function assertCatalogNames (options: object): void {
  // The check of the values says what to do about an option that was removed.
  const members = Object.keys(options).filter((name) => adviceFor(name) === undefined)
  const problem = findProblem(members, [...OPTION_NAMES, ...OWN_NAMES], 'openCatalog')
  if (problem !== undefined) throw new ConfigError([problem])
}
