// What the log gets of the requests that the engine refuses, and of its own errors.

import type { EventEmitter } from 'node:events'
import type { KoaContextWithOIDC, Provider } from 'oidc-provider'
import { clip, codeOf } from '../../../base/words.ts'

export interface EngineLog {
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

/** What the engine says of a refusal beside its message. */
interface EngineRefusal extends Error {
  readonly error_description?: string
  /** Is for the log, and not for the client. */
  readonly error_detail?: string
}

const MAX_REASON = 500
const REFUSALS = [
  'authorization.error', 'grant.error', 'jwks.error', 'registration_create.error', 'revocation.error'
]

/** @param logOf returns the log of the request. */
export function logEngine (
  engine: Provider, logOf: (request: KoaContextWithOIDC['req']) => EngineLog
): void {
  const events: Pick<EventEmitter, 'on'> = engine
  const logRefusal = ({ req, oidc }: KoaContextWithOIDC, error: EngineRefusal) => {
    const { clientId } = oidc.client ?? {}
    logOf(req).info({
      error: error.message,
      reason: clip(error.error_detail ?? error.error_description ?? '', MAX_REASON),
      route: oidc.route,
      ...(clientId !== undefined && { client: clip(clientId) })
    }, 'a request of the sign-in was refused')
  }
  for (const event of REFUSALS) events.on(event, logRefusal)
  events.on('server_error', ({ req }: KoaContextWithOIDC, err: Error) => {
    logOf(req).error({ err }, 'a request of the sign-in failed')
  })
  // Without a listener the framework writes to the standard error output, also for a client that has gone.
  events.on('error', (err: Error, { req }: KoaContextWithOIDC) => {
    if (codeOf(err) === 'ECONNRESET') return
    logOf(req).error({ err }, 'a request of the sign-in failed')
  })
}

/** Loads the library. What it says of an old Node.js becomes a line of the log. */
export async function loadEngine (log: Pick<EngineLog, 'warn'>): Promise<typeof import('oidc-provider')> {
  const { warn } = console
  console.warn = (reason: unknown) => log.warn({ reason }, 'the library of the sign-in warns')
  try {
    return await import('oidc-provider')
  } finally {
    console.warn = warn
  }
}
