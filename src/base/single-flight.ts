// Lets callers that come together share one run of the same work.

/** Returns a function that begins the work, unless it runs: then it returns the promise of that run. */
export function singleFlight<T> (work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= work().finally(() => { running = undefined })
    return running
  }
}

/**
 * Shares runs, and waits after a failure: for the given time calls reject with its error, without a run.
 *
 * @param now milliseconds since any moment.
 */
export function withCooldown<T> (
  work: () => Promise<T>, cooldownMs: number, now: () => number
): () => Promise<T> {
  let failure: { readonly error: unknown, readonly until: number } | undefined
  const share = singleFlight(async () => await work().catch((error: unknown) => {
    failure = { error, until: now() + cooldownMs }
    throw error
  }))
  return async () => {
    if (failure !== undefined && now() < failure.until) throw failure.error
    return await share()
  }
}
