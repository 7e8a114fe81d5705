// The relay of many replicas, over a Redis channel.

import { createLocalListeners } from '../../changes/local-listeners.ts'
import type { Relay, RelayMessage } from '../../changes/relay.ts'
import { openRedisChannel, type RedisChannelClients } from './channel.ts'
import { readObject } from './message.ts'
import { toRedisError } from './redis-error.ts'
import { TIME } from './scripts.ts'

interface RedisRelayClients extends RedisChannelClients {
  readonly commands: RedisChannelClients['commands'] & {
    call (command: string, ...args: Array<string | number>): Promise<unknown>
  }
}

/**
 * Sent when messages of this replica were lost. Replicas of earlier releases ignore it, like all unknown
 * types.
 */
const MISSED: RelayMessage = { type: 'messages-missed' }

interface RedisRelayOptions {
  /** The name of the channel. */
  readonly channel: string
  /**
   * Called when a text is no message, when a listener throws at a message of another replica, and when the
   * others cannot be told that they missed messages.
   */
  onError (error: unknown): void
}

/**
 * Resolves once messages arrive, and rejects if they do not in time. Closing the relay does not close the
 * clients. A message that was not sent is not sent later: it may be out of date. The other replicas are told
 * that they missed messages.
 */
export async function openRedisRelay (
  clients: RedisRelayClients, { channel: name, onError }: RedisRelayOptions
): Promise<Relay> {
  const listeners = createLocalListeners<RelayMessage>()
  const missListeners = createLocalListeners<undefined>()
  let closed = false

  const channel = await openRedisChannel(clients, name, {
    onMessage (text) {
      const message = readRelayMessage(text, name)
      if (message.type === MISSED.type) missListeners.tell(undefined)
      else listeners.tell(message)
    },
    onRestored ({ isMissed, isUnsent }) {
      // If it fails, the channel reports this gap again.
      if (isUnsent) channel.send(JSON.stringify(MISSED)).catch(onError)
      if (isMissed) missListeners.tell(undefined)
    },
    onError
  })

  return {
    get isConnected () { return channel.isWhole },
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
    async time () {
      try {
        return Number(await clients.commands.call('EVAL', TIME, 1, name))
      } catch (error) {
        throw toRedisError(error)
      }
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
