// The token of this service for another one, by client credentials: RFC 6749, section 4.4.

import { unlessAborted } from '../../../base/deadline.ts'
import { withCooldown } from '../../../base/single-flight.ts'
import { clock } from '../../../base/time.ts'
import { openTokenEndpoint, type TokenEndpointOptions } from './token-endpoint.ts'
import { COOLDOWN_MS, RENEWAL_PAUSE_MS, usableMs } from './token-exchange.ts'
import { toClientCredentialsRequest, type ExchangeTarget } from './token-requests.ts'

export interface ServiceTokenOptions extends Omit<TokenEndpointOptions, 'now'> {
  readonly target: ExchangeTarget
}

interface CurrentToken {
  readonly token: string
  /** When one request asks for the next one, in monotonic milliseconds. So are all times here. */
  readonly renewFrom: number
  readonly until: number
  /** It is not dropped before: it took the place of one that was refused. */
  readonly staysUntil: number
}

/** The last part of the time of a token, in which it is renewed while it serves. */
const RENEWED_PART = 5

/**
 * One request at a time asks for a token. While the issuer fails, a token serves until shortly before its
 * end, and the issuer is asked once in five seconds. A token that was taken back serves until the first call
 * that is refused with 401.
 */
export class ServiceToken {
  readonly #request: () => Promise<string>
  #current: CurrentToken | undefined
  #droppedAt = -Infinity

  /** Throws a TypeError if the issuer or the client cannot be used. */
  constructor (options: ServiceTokenOptions) {
    const { target, cooldownMs = COOLDOWN_MS } = options
    const request = openTokenEndpoint({ ...options, now: clock.monotonic })
    this.#request = withCooldown(async () => {
      const issued = await request(toClientCredentialsRequest(target))
      const now = clock.monotonic()
      const ms = usableMs(issued.lifeMs)
      this.#current = {
        token: issued.accessToken,
        renewFrom: now + ms - ms / RENEWED_PART,
        until: now + ms,
        staysUntil: this.#droppedAt + RENEWAL_PAUSE_MS
      }
      if (issued.missingScopes.length > 0) target.onMissingScopes?.(issued.missingScopes)
      return issued.accessToken
    }, cooldownMs, clock.monotonic)
  }

  /**
   * Returns, or resolves to, a token. Rejects with a TokenRefused, an AuthenticationUnavailable, or the
   * reason of the signal. The request goes on for others who wait for it.
   */
  read (signal?: AbortSignal): string | Promise<string> {
    const now = clock.monotonic()
    const current = this.#current
    if (current === undefined || current.until <= now) return unlessAborted(this.#request(), signal)
    // The next one fails too late to matter to this call.
    if (current.renewFrom <= now) this.#request().catch(() => {})
    return current.token
  }

  /** Drops a token that was refused. Returns whether `read` may give another one. */
  forget (refused: string): boolean {
    const now = clock.monotonic()
    const current = this.#current
    if (current !== undefined && current.token !== refused) return true
    if (current === undefined) return this.#droppedAt + RENEWAL_PAUSE_MS > now
    if (current.staysUntil > now) return false
    this.#current = undefined
    this.#droppedAt = now
    return true
  }
}
