// Limits the log lines of an outage: the first error is logged at once, later ones at most every `repeatMs`.

import { clock } from './time.ts'

interface OutageLogOptions {
  readonly log: { warn (fields: object, message: string): void }
  readonly message: string
  /** In milliseconds; 10,000 by default. */
  readonly repeatMs?: number
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number
}

/** Call the returned function with each error. `errors` counts the errors since the line before. */
export function createOutageLog (options: OutageLogOptions): (error: unknown) => void {
  const { log, message, repeatMs = 10_000, now = clock.monotonic } = options
  let mutedUntil = -Infinity
  let errors = 0
  return (err) => {
    errors++
    if (now() < mutedUntil) return
    log.warn({ err, errors }, message)
    mutedUntil = now() + repeatMs
    errors = 0
  }
}
