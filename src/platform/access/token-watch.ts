// Ends the open streams of tokens that no longer count: they have expired, or were taken back.

import { singleFlight } from '../../base/single-flight.ts'
import { clock, type Timer, timers } from '../../base/time.ts'
import { yieldToRequests } from '../../base/turns.ts'
import { AuthenticationUnavailable, type Authenticator } from './authentication.ts'
import type { Principal } from './principal.ts'

export interface TokenWatch {
  /** Calls `end` when the token of the principal no longer counts, unless the stream is closed before. */
  add (principal: Principal, stream: { onClose (listener: () => void): void }, end: () => void): void
  close (): void
}

/** Whether a stream of the principal would end at once: its token counts only by the leeway of clocks. */
export function hasExpired ({ expiresAt = Infinity }: Principal): boolean {
  return expiresAt <= clock.now()
}

interface TokenWatchOptions {
  /** The time between two rounds, in milliseconds. 2000 by default. */
  readonly everyMs?: number
}

/** How many tokens are asked about at once: requests come before streams. */
const MAX_ASKING = 8

/** Streams of one principal share a check. While nobody knows whether a token counts, its streams stay. */
export function createTokenWatch (
  authenticator: Pick<Authenticator, 'isStillValid'>, { everyMs = 2000 }: TokenWatchOptions = {}
): TokenWatch {
  const endsOf = new Map<Principal, Set<() => void>>()

  async function check (principal: Principal): Promise<void> {
    try {
      if (await authenticator.isStillValid?.(principal) !== false) return
    } catch (error) {
      if (error instanceof AuthenticationUnavailable) return
    }
    for (const end of endsOf.get(principal) ?? []) end()
  }

  const checkAll = singleFlight(async () => {
    const principals = [...endsOf.keys()].values()
    await Promise.all(Array.from({ length: MAX_ASKING }, async () => {
      for (const principal of principals) {
        await check(principal)
        await yieldToRequests()
      }
    }))
  })

  const timer = authenticator.isStillValid === undefined
    ? undefined
    : timers.setInterval(() => { checkAll().catch(() => {}) }, everyMs).unref()

  function remove (principal: Principal, end: () => void): void {
    const ends = endsOf.get(principal)
    ends?.delete(end)
    if (ends?.size === 0) endsOf.delete(principal)
  }

  return {
    add (principal, stream, end) {
      const ends = endsOf.get(principal) ?? new Set()
      endsOf.set(principal, ends.add(end))
      stream.onClose(() => remove(principal, end))
      endAtExpiry(principal, stream, end)
    },
    close: () => timers.clear(timer)
  }
}

function endAtExpiry (
  { expiresAt }: Principal, stream: Parameters<TokenWatch['add']>[1], end: () => void
): void {
  if (expiresAt === undefined) return
  let timer: Timer | undefined
  function wait (until: number): void {
    const ms = until - clock.now()
    if (ms <= 0) end()
    else timer = timers.setTimeout(() => wait(until), ms).unref()
  }
  stream.onClose(() => timers.clear(timer))
  wait(expiresAt)
}
