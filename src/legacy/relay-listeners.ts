import type { Relay, RelayMessage } from './relay.ts'

/** Those who listen to a relay within this process. */
export interface RelayListeners extends Pick<Relay, 'listen'> {
  tell (message: RelayMessage): void
  miss (): void
  clear (): void
}

export function createRelayListeners (): RelayListeners {
  const listeners = new Set<{ readonly hear: (message: RelayMessage) => void, readonly onMissed: () => void }>()
  return {
    tell (message) { for (const { hear } of [...listeners]) hear(message) },
    miss () { for (const { onMissed } of [...listeners]) onMissed() },
    clear () { listeners.clear() },
    listen (hear, onMissed = () => {}) {
      const entry = { hear, onMissed }
      listeners.add(entry)
      return () => { listeners.delete(entry) }
    }
  }
}
