// The senders of the requests that the engine serves, and what the log gets of those that it refuses, and of
// its own errors.

import type { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { errors, KoaContextWithOIDC, Provider } from 'oidc-provider'
import { clip, codeOf } from '../../../base/words.ts'
import { UNSUPPORTED } from './revocation.ts'

export interface EngineLog {
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

export interface EngineSender {
  /** The log of the request. */
  readonly log: EngineLog
  /** Absent if no share limits the sender. */
  readonly network?: string | undefined
  /** The way to the identity provider on which a browser comes back to the engine. */
  readonly way?: string | undefined
}

export const senders = new WeakMap<IncomingMessage, EngineSender>()

/** @param ctx what the engine has of the request. Absent outside of requests. */
export function senderOf (ctx: { readonly req: IncomingMessage } | undefined): Partial<EngineSender> {
  return (ctx && senders.get(ctx.req)) ?? {}
}

const MAX_REASON = 500
const REFUSALS = [
  'authorization.error', 'grant.error', 'jwks.error', 'registration_create.error', 'revocation.error'
]

/** @param log of what has no request. */
export function logEngine (engine: Provider, log: EngineLog): void {
  const events: Pick<EventEmitter, 'on'> = engine
  const logOf = (ctx: KoaContextWithOIDC) => senderOf(ctx).log ?? log
  for (const event of REFUSALS) {
    events.on(event, (ctx: KoaContextWithOIDC, refusal: errors.OIDCProviderError) => {
      const { message: error, error_detail: detail, error_description: description = '' } = refusal
      // Its grant ends all the same.
      if (error === UNSUPPORTED) return
      const { route, client } = ctx.oidc
      logOf(ctx).info({
        error,
        // The detail is not for the client.
        reason: clip(detail ?? description, MAX_REASON),
        route,
        ...(client !== undefined && { client: clip(client.clientId) })
      }, 'a request of the sign-in was refused')
    })
  }
  const logError = (ctx: KoaContextWithOIDC, err: Error) => {
    logOf(ctx).error({ err }, 'a request of the sign-in failed')
  }
  events.on('server_error', logError)
  // Without a listener the framework writes to the standard error output, also for a client that has gone.
  events.on('error', (err: Error, ctx: KoaContextWithOIDC) => {
    if (codeOf(err) !== 'ECONNRESET') logError(ctx, err)
  })
}
