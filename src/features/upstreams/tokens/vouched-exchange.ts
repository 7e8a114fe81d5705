// Exchanges for callers for whom an issuer in this process vouches: it makes their tokens without a request.

import { clock } from '../../../base/time.ts'
import { isAnonymous, type Principal } from '../../../platform/access/principal.ts'
import type { KeptToken } from '../../../request/pipeline/seams.ts'
import { NothingToExchange, toTargetName, type TokenExchange } from './token-exchange.ts'
import type { ExchangeTarget } from './token-requests.ts'

/** What credentials and tasks need of an exchange. */
export type CallerExchange = Pick<TokenExchange, 'tokenFor' | 'forget' | 'exchangeToKeep' | 'renew'>

/** An issuer of this process. */
export interface VouchingIssuer {
  readonly issuer: string
  vouchesFor (principal: Principal): boolean
  exchange (
    principal: Principal, audience: string, scopes: readonly string[], lifeSeconds: number
  ): Promise<string>
}

const LIFE_SECONDS = 300
/** Tokens for tasks are not renewed. */
const KEPT_SECONDS = 86_400

/** @param exchange serves the callers for whom the issuer does not vouch. Absent: they have no token. */
export function withVouchingIssuer (
  issuer: VouchingIssuer, exchange: CallerExchange | undefined
): CallerExchange {
  const open = () => {
    if (exchange === undefined) throw new NothingToExchange('this service exchanges no other tokens')
    return exchange
  }
  async function toToken (
    principal: Principal, { audience, resource, scopes = [] }: ExchangeTarget, lifeSeconds: number
  ): Promise<string> {
    if (isAnonymous(principal)) throw new NothingToExchange('an anonymous caller has nothing to exchange')
    // Where scopes alone say what a token is for, they begin with its audience.
    const target = audience ?? resource ?? scopes[0]?.replace(/\/[^/]+$/, '') ?? issuer.issuer
    return await issuer.exchange(principal, target, scopes, lifeSeconds)
  }
  return {
    tokenFor: (principal, target, signal) => issuer.vouchesFor(principal)
      ? toToken(principal, target, LIFE_SECONDS)
      : open().tokenFor(principal, target, signal),
    forget: (principal, target, refused) => (
      !issuer.vouchesFor(principal) && exchange?.forget(principal, target, refused) === true
    ),
    async exchangeToKeep (principal, target): Promise<KeptToken> {
      if (!issuer.vouchesFor(principal)) return await open().exchangeToKeep(principal, target)
      return {
        issuer: issuer.issuer,
        target: toTargetName(target),
        accessToken: await toToken(principal, target, KEPT_SECONDS),
        expiresAt: clock.now() + KEPT_SECONDS * 1000
      }
    },
    renew: async (...renewal) => await open().renew(...renewal)
  }
}
