// The relay of many replicas, over a Redis channel.

import { createLocalListeners } from '../../events/local-listeners.ts'
import type { Relay, RelayMessage } from '../../events/relay.ts'
import { openRedisChannel, type RedisChannelClients } from './channel.ts'
import { readObject } from './message.ts'

interface RedisRelayOptions {
  /** The name of the channel. */
  readonly channel: string
  /** Called when a text is no message, and when a listener throws at a message of another replica. */
  onError (error: unknown): void
}

/**
 * Resolves once messages arrive, and rejects if they do not in time. Closing the relay does not close the
 * clients.
 */
export async function openRedisRelay (
  clients: RedisChannelClients, { channel: name, onError }: RedisRelayOptions
): Promise<Relay> {
  const listeners = createLocalListeners<RelayMessage>()
  const missListeners = createLocalListeners<undefined>()
  let closed = false

  const channel = await openRedisChannel(clients, name, {
    onMessage: (text) => listeners.tell(readRelayMessage(text, name)),
    onRestored: () => missListeners.tell(undefined),
    onError
  })

  return {
    async send (message) {
      if (closed) return
      const text = JSON.stringify(message)
      try {
        listeners.tell(message)
      } finally {
        // Sent even if a listener throws: the other replicas must get the message.
        await channel.send(text)
      }
    },
    listen (listener, onMissed = () => {}) {
      const stops = [listeners.add(listener), missListeners.add(onMissed)]
      return () => { for (const stop of stops) stop() }
    },
    async close () {
      closed = true
      channel.close()
      listeners.close()
      missListeners.close()
    }
  }
}

function readRelayMessage (text: string, channel: string): RelayMessage {
  const { type, ...members } = readObject(text, channel)
  if (typeof type !== 'string') throw new TypeError(`a message on ${channel} has no type`)
  return { ...members, type }
}
