// Opens the console of `trivet dev`, and the callers that its author picks, where the settings allow it.

import { isLoopback } from '../base/addresses.ts'
import { openAuthorConsole } from '../edges/console/author-console.ts'
import { PickedCallers, type PickedCaller } from '../edges/console/picked-callers.ts'
import { mayServeConsole } from '../edges/console/console-routes.ts'
import { ConfigError } from '../ops/config/config.ts'
import type { Config } from '../ops/config/settings.ts'
import type { AuthorParts, ServedDesk } from './features.ts'

interface AuthorChoices {
  /** `undefined`: the author has not said who calls. */
  readonly caller: PickedCaller | undefined
  readonly hasConsole: boolean
}

/** Rejects with a ConfigError if a caller is named where tokens are checked, or where others reach it. */
export async function openConsole (
  { host, auth, path: endpoint }: Config, { caller, hasConsole }: AuthorChoices, desk: ServedDesk | undefined,
  page: { readonly folder: string, readonly version: string }
): Promise<AuthorParts> {
  const modes = auth.filter((mode) => mode !== 'none')
  if (caller !== undefined && modes.length > 0 && desk === undefined) {
    throw new ConfigError([
      '--subject and --scopes say who calls, and ' +
        `TRIVET_AUTH=${modes.join(',')} asks for tokens: leave one out`
    ])
  }
  if (caller !== undefined && !isLoopback(host)) {
    throw new ConfigError([`--subject and --scopes need a loopback address, and HOST is ${host}`])
  }
  if (!isLoopback(host)) return {}
  const callers = modes.length > 0 ? {} : { callers: new PickedCallers(caller ?? { scopes: [] }) }
  if (!hasConsole || !mayServeConsole(host)) return callers
  if (endpoint.startsWith('/console/')) {
    throw new ConfigError([
      `TRIVET_PATH is ${endpoint}, where the console is: choose another, or use --no-console`
    ])
  }
  return { ...callers, authorConsole: await openAuthorConsole({ ...page, endpoint, desk, ...callers }) }
}
