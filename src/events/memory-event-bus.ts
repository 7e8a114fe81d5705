import type { EventBus } from './event-bus.ts'
import { createLocalListeners } from './local-listeners.ts'

/** The bus of a single process. */
export function createMemoryEventBus (): EventBus {
  const listeners = createLocalListeners()
  return {
    async publish (event) { listeners.tell(event) },
    subscribe: (hear) => listeners.add(hear),
    async close () { listeners.close() }
  }
}
