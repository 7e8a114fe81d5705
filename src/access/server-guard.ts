// Bounds the requests to an authorization server that is slow, or fails.

import { AuthenticationUnavailable } from './authentication.ts'

export interface ServerGuardOptions {
  /** How long a server that failed is not asked again, in milliseconds. */
  readonly cooldownMs: number
  /** How long a request may wait for its turn, in milliseconds. */
  readonly patienceMs: number
  /** How many requests the server gets at once. 50 by default. */
  readonly maxAsking?: number
  /** How many requests may wait for their turn. 1000 by default. */
  readonly maxWaiting?: number
  readonly now: () => number
  /** Whether an error says that the server fails. Others are about one request. */
  readonly isFailure: (error: unknown) => boolean
}

/** Runs a request in its turn. Rejects with an AuthenticationUnavailable where it is not run. */
export type ServerGuard = <T>(ask: () => Promise<T>) => Promise<T>

interface WaitingRequest {
  readonly since: number
  readonly start: () => void
  readonly reject: (error: unknown) => void
}

/** After this many failures in a row the server has failed. A single one may be chance. */
const FAILURES = 3

/** After the cooldown one request finds out whether the server is back. The others are refused meanwhile. */
export function createServerGuard (options: ServerGuardOptions): ServerGuard {
  const { cooldownMs, patienceMs, maxAsking = 50, maxWaiting = 1000, now, isFailure } = options
  const waiting: WaitingRequest[] = []
  let asking = 0
  let failures = 0
  let failure: { readonly error: unknown, readonly until: number } | undefined

  function findRefusal (): unknown {
    if (failure === undefined || failures < FAILURES) return undefined
    return now() < failure.until || asking > 0 ? failure.error : undefined
  }

  /** Waiting requests are refused together once the server has failed. */
  function serveWaiting (): void {
    for (;;) {
      const next = asking < maxAsking ? waiting.shift() : undefined
      if (next === undefined) return
      const refusal = findRefusal() ?? (now() - next.since > patienceMs ? tooMany() : undefined)
      if (refusal === undefined) next.start()
      else next.reject(refusal)
    }
  }

  async function run<T> (ask: () => Promise<T>): Promise<T> {
    asking++
    try {
      const answer = await ask()
      failures = 0
      return answer
    } catch (error) {
      if (isFailure(error)) {
        failures++
        failure = { error, until: now() + cooldownMs }
      }
      throw error
    } finally {
      asking--
      serveWaiting()
    }
  }

  return async (ask) => {
    const refusal = findRefusal()
    if (refusal !== undefined) throw refusal
    if (asking < maxAsking) return await run(ask)
    if (waiting.length >= maxWaiting) throw tooMany()
    return await new Promise((resolve, reject) => {
      waiting.push({ since: now(), start: () => { run(ask).then(resolve, reject) }, reject })
    })
  }
}

function tooMany (): AuthenticationUnavailable {
  return new AuthenticationUnavailable('too many tokens wait for an answer of the authorization server')
}
