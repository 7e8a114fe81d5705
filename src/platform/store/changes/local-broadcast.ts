import { clock } from '../../../base/time.ts'
import type { Broadcast, ReplicaMessage } from './broadcast.ts'
import type { ChangeEvent } from './change-event.ts'
import { createLocalListeners } from './local-listeners.ts'

/** Creates the broadcast of a single process. It loses nothing. */
export function createLocalBroadcast (): Broadcast {
  const events = createLocalListeners<ChangeEvent>()
  const messages = createLocalListeners<ReplicaMessage>()
  return {
    isConnected: true,
    async publish (event) { events.tell(event) },
    subscribe: (listener) => events.add(listener),
    async send (message) { messages.tell(message) },
    listen: (listener) => messages.add(listener),
    time: async () => clock.now(),
    async close () {
      events.close()
      messages.close()
    }
  }
}
