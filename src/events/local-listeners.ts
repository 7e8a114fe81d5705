// The listeners within this process.

interface LocalListeners<T> {
  /** Calls every current listener. Throws an AggregateError afterwards where some of them failed. */
  tell (message: T): void
  /** Listens until the returned function is called. */
  add (hear: (message: T) => void): () => void
  /** Drops all listeners, and calls none from now on. */
  close (): void
}

export function createLocalListeners<T> (): LocalListeners<T> {
  const listeners = new Set<{ readonly hear: (message: T) => void }>()
  let closed = false

  return {
    tell (message) {
      const errors: unknown[] = []
      for (const { hear } of closed ? [] : [...listeners]) {
        try {
          hear(message)
        } catch (error) {
          errors.push(error)
        }
      }
      // Thrown after the loop, so that the failure of one listener keeps nothing from the others.
      if (errors.length > 0) throw new AggregateError(errors, 'a listener failed')
    },
    add (hear) {
      const entry = { hear }
      listeners.add(entry)
      return () => { listeners.delete(entry) }
    },
    close () {
      closed = true
      listeners.clear()
    }
  }
}
