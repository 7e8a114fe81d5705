import { clock } from '../../../base/time.ts'
import { createLocalListeners } from '../../changes/local-listeners.ts'
import type { Relay, RelayMessage } from '../../changes/relay.ts'

/** The relay of a single process. It loses no messages. */
export function createMemoryRelay (): Relay {
  const listeners = createLocalListeners<RelayMessage>()
  return {
    isConnected: true,
    async send (message) { listeners.tell(message) },
    listen: (listener) => listeners.add(listener),
    time: async () => clock.now(),
    async close () { listeners.close() }
  }
}
