// Calls an upstream as the caller, with a token that the issuer of the caller's token made for it.

import { NothingToExchange } from '../tokens/token-exchange.ts'
import type { CallerExchange } from '../tokens/vouched-exchange.ts'
import type { ExchangeTarget } from '../tokens/token-requests.ts'
import type { ExchangeAuth } from '../../../platform/author/upstream-auth.ts'
import { createBearerCredential, createScopeReport, type CredentialLog } from './bearer-token.ts'
import type { Credential } from './credential.ts'
import type { KeptTokens } from './kept-tokens.ts'

export interface ExchangeDependencies {
  readonly upstream: string
  /** Absent if this service has no issuer, or no client there: no caller has a token that it can exchange. */
  readonly exchange: CallerExchange | undefined
  readonly kept: KeptTokens
  readonly log: CredentialLog
}

export function createExchangeCredential (
  auth: ExchangeAuth, { upstream, exchange, kept: keptTokens, log }: ExchangeDependencies
): Credential {
  const target = { ...toExchangeTarget(auth), onMissingScopes: createScopeReport(log, upstream) }
  return createBearerCredential({
    read (caller) {
      if (exchange === undefined) throw new NothingToExchange('this service exchanges no tokens')
      // The principal of a later run of a task came with no token.
      return keptTokens.read(caller, upstream, { exchange, target }) ??
        exchange.tokenFor(caller.principal, target, caller.signal)
    },
    forget: ({ principal }, refused) => keptTokens.forget(principal, upstream, refused) ??
      exchange?.forget(principal, target, refused) ?? false,
    refusal: 'refused'
  })
}

export function toExchangeTarget ({ audience, resource, scopes }: ExchangeAuth): ExchangeTarget {
  return { audience, resource, scopes }
}
