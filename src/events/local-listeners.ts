// Those who listen to a bus within this process.

import type { ChangeEvent } from './change-event.ts'
import type { ChangeListener } from './event-bus.ts'

export interface LocalListeners {
  /** Every listener of this moment hears the event. Throws an AggregateError afterwards where some of them failed. */
  tell (event: ChangeEvent): void
  /** Listens until the returned function is called. */
  add (hear: ChangeListener): () => void
  /** Tells nobody anything any more. */
  close (): void
}

export function createLocalListeners (): LocalListeners {
  const listeners = new Set<{ readonly hear: ChangeListener }>()
  let closed = false

  return {
    tell (event) {
      const failures: unknown[] = []
      for (const { hear } of closed ? [] : [...listeners]) {
        try {
          hear(event)
        } catch (error) {
          failures.push(error)
        }
      }
      // Only now, so that one listener's failure keeps nothing from the others.
      if (failures.length > 0) throw new AggregateError(failures, 'a listener of the bus failed')
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
