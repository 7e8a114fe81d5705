import type { ChangeEvent } from './change-event.ts'
import type { EventBus } from './event-bus.ts'
import { createLocalListeners } from './local-listeners.ts'

/** The bus of a single process. */
export function createMemoryEventBus (): EventBus {
  const listeners = createLocalListeners<ChangeEvent>()
  return {
    async publish (event) { listeners.tell(event) },
    subscribe: (hear) => listeners.add(hear),
    async close () { listeners.close() }
  }
}
