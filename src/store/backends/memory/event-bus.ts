import type { ChangeEvent } from '../../changes/change-event.ts'
import type { EventBus } from '../../changes/event-bus.ts'
import { createLocalListeners } from '../../changes/local-listeners.ts'

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
