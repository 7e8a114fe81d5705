// The command `trivet token`: makes a static access token, and the line for the file of TRIVET_AUTH_TOKENS.

import { createStaticToken, hasRealDay } from '../../platform/access/static-token-file.ts'
import { clock } from '../../base/time.ts'
import { splitScopes, toJsonText, UsageError, type AddCommand } from './command.ts'

const DEFAULT_LIFETIME_MS = 90 * 86_400_000
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/

interface TokenOptions {
  readonly subject: string
  readonly scopes?: string
  readonly client?: string
  readonly expires?: string
  readonly json?: true
}

export const tokenCommand: AddCommand = (program, { out, err, findLoss }) => {
  program.command('token')
    .description('make a static access token for TRIVET_AUTH=tokens')
    .requiredOption('--subject <name>', 'who the token is for')
    .option('--scopes <scopes>', 'the granted scopes, with spaces between; none by default')
    .option('--client <id>', 'the OAuth client that the subject uses; none by default')
    .option('--expires <date>', 'the last moment, such as 2027-01-31; in 90 days by default')
    .option('--json', 'print the token and its line as JSON, both on standard output')
    .addHelpText('after', '\nThe token is printed once, on standard error. Its line for the file of ' +
      'TRIVET_AUTH_TOKENS goes to standard\noutput, so that the end of the command can be: >> tokens.yaml')
    .action(async (options: TokenOptions) => {
      const token = makeToken(options, clock.now())
      if (options.json === true) return out(toJsonText(token))
      out(`${token.line}\n`)
      // The token would be of no use.
      if (await findLoss() !== undefined) return
      err(`${token.token}\nThe token is shown only here. It expires at ${token.expiresAt}.\n`)
    })
}

interface NewToken {
  readonly token: string
  /** For the file of TRIVET_AUTH_TOKENS. */
  readonly line: string
  /** A date in ISO 8601. */
  readonly expiresAt: string
}

/** Throws a UsageError that names the argument. */
function makeToken ({ subject, scopes: text = '', client, expires }: TokenOptions, now: number): NewToken {
  if (subject === '') throw new UsageError('--subject must not be empty')
  const scopes = splitScopes(text)
  const wrong = scopes.find((scope) => !SCOPE.test(scope))
  if (wrong !== undefined) throw new UsageError(`--scopes has ${JSON.stringify(wrong)}, which is no scope`)
  if (!hasRealDay(expires ?? '')) throw new UsageError('--expires is a day that does not exist')
  const expiresAt = new Date(expires ?? now + DEFAULT_LIFETIME_MS)
  if (!(expiresAt.getTime() > now)) throw new UsageError('--expires must be a later date than today')
  const { token, entry } = createStaticToken({
    subject, scopes, expiresAt, ...(client !== undefined && { clientId: client })
  })
  return { token, line: entry, expiresAt: expiresAt.toISOString() }
}
