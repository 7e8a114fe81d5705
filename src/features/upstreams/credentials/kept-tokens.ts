// The exchanged tokens that tasks keep, for the upstreams that say so. A later run of a task has them by its
// principal, as its first run had the token of the caller: no handler and no log line gets them.

import type { Principal } from '../../../platform/access/principal.ts'
import { TokenRefused } from '../tokens/token-endpoint.ts'
import { NothingToExchange, toTargetName, usableMs, type TokenExchange } from '../tokens/token-exchange.ts'
import type { KeptToken, KeptTokensByName } from '../../../request/pipeline/seams.ts'
import type { ExchangeTarget } from '../tokens/token-requests.ts'
import { unlessAborted } from '../../../base/deadline.ts'
import { clock } from '../../../base/time.ts'
import type { CredentialCaller } from './credential.ts'

/** Writes the tokens into the record of the task. Resolves once they are durable. */
type KeepTokens = (tokens: KeptTokensByName) => Promise<void>

/** A later run of a task. */
interface KeptRun {
  tokens: KeptTokensByName
  readonly keep: KeepTokens
  /** The renewals, by upstream: one at a time. */
  readonly renewing: Map<string, Promise<string>>
  /** The first token that each upstream has refused. */
  readonly refused: Map<string, string>
}

interface Renewal {
  readonly exchange: Pick<TokenExchange, 'renew'>
  readonly target: ExchangeTarget
}

/** For the log. The model is told that its user must call the tool again. */
const OVER = 'the task keeps no token for the upstream that still counts: its user must call the tool again'

export class KeptTokens {
  readonly #runs = new WeakMap<Principal, KeptRun>()

  /** @param principal of this run alone: principals of requests are shared. */
  attach (principal: Principal, tokens: KeptTokensByName, keep: KeepTokens): void {
    this.#runs.set(principal, { tokens, keep, renewing: new Map(), refused: new Map() })
  }

  /**
   * Returns, or resolves to, the kept token. Returns `undefined` if the principal is not that of a later run.
   * Throws a NothingToExchange if the token has expired and cannot be renewed, and rejects as `renew` does.
   */
  read (
    { principal, signal }: CredentialCaller, upstream: string, renewal: Renewal
  ): string | Promise<string> | undefined {
    const run = this.#runs.get(principal)
    if (run === undefined) return undefined
    const token = Object.hasOwn(run.tokens, upstream) ? run.tokens[upstream] : undefined
    // A later release may give the name of the upstream to another service, which must not get this token.
    if (token?.target !== toTargetName(renewal.target)) throw new NothingToExchange(OVER)
    const { accessToken, expiresAt, refreshToken } = token
    if (run.refused.get(upstream) !== accessToken && usableMs(expiresAt - clock.now()) > 0) return accessToken
    if (refreshToken === undefined) throw new NothingToExchange(OVER)
    return unlessAborted(this.#renew(run, principal, upstream, renewal, token), signal)
  }

  /** Returns `undefined` if the principal is not that of a later run. */
  forget (principal: Principal, upstream: string, refused: string): boolean | undefined {
    const run = this.#runs.get(principal)
    if (run === undefined) return undefined
    const token = run.tokens[upstream]
    if (token !== undefined && token.accessToken !== refused) return true
    // An upstream that refuses every token causes one renewal.
    if (run.refused.has(upstream)) return false
    run.refused.set(upstream, refused)
    return token?.refreshToken !== undefined
  }

  /** Shares the renewal: a refresh token may count once. */
  #renew (
    run: KeptRun, principal: Principal, upstream: string, { exchange, target }: Renewal, token: KeptToken
  ): Promise<string> {
    const earlier = run.renewing.get(upstream)
    if (earlier !== undefined) return earlier
    const renewing = exchange.renew(principal, token, target, async (renewed) => {
      const tokens = { ...run.tokens, [upstream]: renewed }
      await run.keep(tokens)
      run.tokens = tokens
    }).then(({ accessToken }) => accessToken, (error: unknown) => {
      // The refresh token has expired, or was taken back. A new call of the user begins with new tokens.
      if (error instanceof TokenRefused) throw new NothingToExchange(`${OVER} (${error.message})`)
      throw error
    }).finally(() => run.renewing.delete(upstream))
    run.renewing.set(upstream, renewing)
    renewing.catch(() => {})
    return renewing
  }
}
