// One line for an outage, and not one for each failure: the first failure at once, and one from time to time.

interface OutageLogOptions {
  readonly log: { warn (fields: object, message: string): void }
  readonly message: string
  /** In milliseconds; 10,000 by default. */
  readonly repeatMs?: number
  /** Milliseconds that never go back. */
  readonly now?: () => number
}

/** To be called with each failure. `failures` in a line counts the failures since the line before. */
export function createOutageLog (options: OutageLogOptions): (error: unknown) => void {
  const { log, message, repeatMs = 10_000, now = () => performance.now() } = options
  let mutedUntil = -Infinity
  let failures = 0
  return (err) => {
    failures++
    if (now() < mutedUntil) return
    log.warn({ err, failures }, message)
    mutedUntil = now() + repeatMs
    failures = 0
  }
}
