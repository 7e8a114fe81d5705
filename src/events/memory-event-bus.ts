import type { ChangeEvent } from './change-event.ts'
import type { ChangeListener, EventBus } from './event-bus.ts'

/** The bus of a single process. */
export function createMemoryEventBus (): EventBus {
  const listeners = new Set<{ readonly hear: ChangeListener }>()
  let closed = false

  return {
    async publish (event: ChangeEvent) {
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
    subscribe (hear) {
      const entry = { hear }
      listeners.add(entry)
      return () => { listeners.delete(entry) }
    },
    async close () {
      closed = true
      listeners.clear()
    }
  }
}
