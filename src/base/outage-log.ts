// Limits how often something is told that may happen often: errors of an outage, refusals.

import { clock } from './time.ts'

interface RepeatOptions {
  /** In milliseconds; 10,000 by default. */
  readonly repeatMs?: number
  /** A monotonic clock, in milliseconds. */
  readonly now?: () => number
}

interface OutageLogOptions extends RepeatOptions {
  readonly log: { warn (fields: object, message: string): void }
  readonly message: string
}

/**
 * Returns a function that tells the first value at once, and later ones at most every `repeatMs`. `count` is
 * the number of values since the one that was told before.
 */
export function limitRepeats<T> (
  tell: (value: T, count: number) => void, { repeatMs = 10_000, now = clock.monotonic }: RepeatOptions = {}
): (value: T) => void {
  let mutedUntil = -Infinity
  let count = 0
  return (value) => {
    count++
    if (now() < mutedUntil) return
    tell(value, count)
    mutedUntil = now() + repeatMs
    count = 0
  }
}

/** Call the returned function with each error. `errors` counts the errors since the line before. */
export function createOutageLog (options: OutageLogOptions): (error: unknown) => void {
  const { log, message } = options
  return limitRepeats((err, errors) => log.warn({ err, errors }, message), options)
}
