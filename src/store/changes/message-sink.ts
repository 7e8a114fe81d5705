// A stream of messages to a client, independent of the transport.

import type { Principal } from '../../access/principal.ts'
import { clock, type Timer, timers } from '../../base/time.ts'

/** One open stream of messages to one client. */
export interface MessageSink {
  /** Sends one message, as JSON. Does nothing once the stream has ended. */
  send (json: string): void
  /** Sends bytes that carry no message, so that proxies do not close an idle stream. */
  keepAlive (): void
  /** Sends the last message, if any, and ends the stream. */
  end (json?: string): void
  /** Closes the connection without a last message. */
  cut (): void
  /** Whether messages are waiting because the client does not read. */
  readonly isBlocked: boolean
  /** Calls the listener each time the waiting messages have been sent. */
  onDrain (listener: () => void): void
  /**
   * Calls the listener once, when the stream is closed. `isComplete` says whether the last message was sent.
   */
  onClose (listener: (isComplete: boolean) => void): void
}

/** Calls `end` when the access token that opened the stream expires, unless the stream is closed before. */
export function endAtExpiry (
  { expiresAt }: Principal, stream: Pick<MessageSink, 'onClose'>, end: () => void
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
