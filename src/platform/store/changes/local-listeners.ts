// The listeners in this process.

export function createLocalListeners<T> () {
  const listeners = new Set<{ readonly listener: (message: T) => void }>()
  let closed = false

  return {
    /** Calls every current listener, then throws an AggregateError if any of them threw. */
    tell (message: T): void {
      const errors: unknown[] = []
      for (const { listener } of closed ? [] : [...listeners]) {
        try {
          listener(message)
        } catch (error) {
          errors.push(error)
        }
      }
      // Thrown after the loop: an error of one listener must not keep the message from the others.
      if (errors.length > 0) throw new AggregateError(errors, 'a listener failed')
    },
    /** Adds a listener until the returned function is called. */
    add (listener: (message: T) => void): () => void {
      // In an object of its own, so that a listener that is added twice is called twice.
      const entry = { listener }
      listeners.add(entry)
      return () => { listeners.delete(entry) }
    },
    /** Removes all listeners. Later calls of `tell` do nothing. */
    close (): void {
      closed = true
      listeners.clear()
    }
  }
}
