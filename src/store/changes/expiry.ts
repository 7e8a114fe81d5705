// Ends streams when the access tokens that opened them expire.

import type { Principal } from '../../access/principal.ts'
import { clock, type Timer, timers } from '../../base/time.ts'
import type { MessageSink } from './message-sink.ts'

/** A longer timer would fire at once. */
const MAX_TIMER_MS = 2_147_483_647

/** Calls `end` when the principal's token expires, unless the stream is closed before. */
export function endAtExpiry (
  { expiresAt }: Principal, stream: Pick<MessageSink, 'onClose'>, end: () => void
): void {
  if (expiresAt === undefined) return
  let timer: Timer | undefined
  function wait (until: number): void {
    const left = until - clock.now()
    if (left <= 0) end()
    else timer = timers.setTimeout(() => wait(until), Math.min(left, MAX_TIMER_MS)).unref()
  }
  stream.onClose(() => timers.clear(timer))
  wait(expiresAt)
}
