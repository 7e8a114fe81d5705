// Keeps exchanged tokens for tasks, which call upstreams as their callers after the request has ended.

import type { Principal } from '../../../platform/access/principal.ts'
import { NothingToExchange, type TokenExchange } from '../tokens/token-exchange.ts'
import type { KeptToken, UpstreamTokens } from '../../../request/pipeline/seams.ts'
import type { ExchangeAuth } from '../../../platform/author/upstream-auth.ts'
import { messageOf } from '../../../base/words.ts'
import type { CredentialLog } from './bearer-token.ts'
import { toExchangeTarget } from './exchange.ts'
import type { KeptTokens } from './kept-tokens.ts'

interface TaskTokensDependencies {
  readonly exchange: Pick<TokenExchange, 'exchangeToKeep'> | undefined
  readonly kept: KeptTokens
  readonly log: CredentialLog
  /** Returns the upstreams that the tool may call, with their names, and whose `auth` is an exchange. */
  exchangesOf (tool: string): ReadonlyArray<{ readonly name: string, readonly auth: ExchangeAuth }>
}

/** Keeps nothing that a definition does not ask for: without `keep` no token is in any record. */
export function createTaskTokens (
  { exchange, kept: keptTokens, log, exchangesOf }: TaskTokensDependencies
): UpstreamTokens {
  async function keepFor (
    name: string, auth: ExchangeAuth, principal: Principal
  ): Promise<KeptToken | undefined> {
    try {
      return await exchange?.exchangeToKeep(principal, toExchangeTarget(auth))
    } catch (error) {
      // A later run fails there, with an error for the model.
      if (!(error instanceof NothingToExchange)) {
        log.warn({ upstream: name, reason: messageOf(error) }, 'a task keeps no token for an upstream')
      }
      return undefined
    }
  }

  return {
    async exchange (principal, tool) {
      const keeping = exchangesOf(tool).filter(({ auth }) => auth.keep === true)
      if (keeping.length === 0) return undefined
      const tokens = await Promise.all(keeping.map(
        async ({ name, auth }) => [name, await keepFor(name, auth, principal)] as const
      ))
      return Object.fromEntries(tokens.flatMap(
        ([name, token]) => token === undefined ? [] : [[name, token] as const]
      ))
    },
    attach: (...run) => keptTokens.attach(...run)
  }
}
