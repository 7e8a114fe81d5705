// Asks a server that failed again only after a while.

/**
 * Calls that come together share one run. After a failure, calls reject with its error for the given time,
 * without a run.
 */
export function withCooldown<T> (
  run: () => Promise<T>, cooldownMs: number, now: () => number
): () => Promise<T> {
  let failure: { readonly error: unknown, readonly until: number } | undefined
  let running: Promise<T> | undefined

  async function start (): Promise<T> {
    try {
      return await run()
    } catch (error) {
      failure = { error, until: now() + cooldownMs }
      throw error
    } finally {
      running = undefined
    }
  }

  return async () => {
    if (failure !== undefined && now() < failure.until) throw failure.error
    running ??= start()
    return await running
  }
}
