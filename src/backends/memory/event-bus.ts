import type { ChangeEvent } from '../../events/change-event.ts'
import type { EventBus } from '../../events/event-bus.ts'
import { createLocalListeners } from '../../events/local-listeners.ts'

/** The bus of a single process. */
export function createMemoryEventBus (): EventBus {
  const listeners = createLocalListeners<ChangeEvent>()
  return {
    isConnected: true,
    async publish (event) { listeners.tell(event) },
    subscribe: (listener) => listeners.add(listener),
    async close () { listeners.close() }
  }
}
