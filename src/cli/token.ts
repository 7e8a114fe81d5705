// The command `trivet token`: makes a static access token, and the line for the file of TRIVET_AUTH_TOKENS.

import { parseArgs } from 'node:util'
import { reasonOf } from '../access/error-reason.ts'
import { createStaticToken } from '../access/new-static-token.ts'

/** The arguments cannot be used. The message says how the command is used. */
export class UsageError extends Error {}

const USAGE = `Usage: trivet token --subject NAME [--scopes "SCOPE SCOPE"] [--client ID] [--expires DATE]
  --subject  who the token is for
  --scopes   the granted scopes, with spaces between; none by default
  --client   the OAuth client that the subject uses; none by default
  --expires  the last moment, such as 2027-01-31; in 90 days by default
The token is printed once, on standard error. Its line for the file of TRIVET_AUTH_TOKENS goes to standard
output, so that the end of the command can be: >> tokens.yaml`

const DEFAULT_LIFETIME_MS = 90 * 86_400_000
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

interface TokenOutput {
  /** The line for the file. */
  readonly out: string
  /** The token, with words for its reader. */
  readonly err: string
}

/** Throws a UsageError that names the argument. */
export function runToken (args: readonly string[], now = Date.now()): TokenOutput {
  const { subject = '', scopes: text = '', client, expires } = readArguments(args)
  if (subject === '') throw new UsageError(`--subject is missing\n${USAGE}`)
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '')
  const wrong = scopes.find((scope) => !SCOPE.test(scope))
  if (wrong !== undefined) throw new UsageError(`--scopes has ${JSON.stringify(wrong)}, which is no scope`)
  const expiresAt = new Date(expires ?? now + DEFAULT_LIFETIME_MS)
  if (!(expiresAt.getTime() > now)) throw new UsageError('--expires must be a later date than today')
  const { token, entry } = createStaticToken({
    subject, scopes, expiresAt, ...(client !== undefined && { clientId: client })
  })
  const until = expiresAt.toISOString()
  return { out: `${entry}\n`, err: `${token}\nThe token is shown only here. It expires at ${until}.\n` }
}

function readArguments (args: readonly string[]) {
  const type = 'string' as const
  try {
    return parseArgs({
      args: [...args], options: { subject: { type }, scopes: { type }, client: { type }, expires: { type } }
    }).values
  } catch (error) {
    throw new UsageError(`${reasonOf(error)}\n${USAGE}`)
  }
}
