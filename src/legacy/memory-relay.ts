import type { Relay } from './relay.ts'
import { createRelayListeners } from './relay-listeners.ts'

/** The relay of a single process. */
export function createMemoryRelay (): Relay {
  const listeners = createRelayListeners()
  return {
    async send (message) { listeners.tell(message) },
    listen: listeners.listen,
    close: listeners.clear
  }
}
