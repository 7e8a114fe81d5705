// One line for an outage and not one for each attempt: it says at once that there is one, and from time to time that it lasts.

export interface OutageLogOptions {
  readonly log: { warn (fields: object, message: string): void }
  readonly message: string
  /** In milliseconds; 10,000 by default. */
  readonly repeatMs?: number
  /** Milliseconds that never go back. */
  readonly now?: () => number
}

/** To be called with each failure. A line that follows others says of how many it is the last. */
export function createOutageLog ({ log, message, repeatMs = 10_000, now = () => performance.now() }: OutageLogOptions): (error: unknown) => void {
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
