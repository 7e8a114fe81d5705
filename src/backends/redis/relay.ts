// The relay of many replicas, over a channel of Redis.

import { createLocalListeners } from '../../events/local-listeners.ts'
import { openRedisChannel, type RedisChannelClients } from './channel.ts'
import type { Relay, RelayMessage } from '../../events/relay.ts'
import { isObject } from '../../protocol/json-rpc.ts'

/** The name is that of earlier releases, whose replicas may run beside this one. */
const CHANNEL = 'trivet:sessions'

export interface RedisRelayOptions {
  /** Told of what is no message, and of listeners that failed to hear the message of another replica. */
  onError (error: unknown): void
}

/** Resolves once messages come through, and rejects where they do not in time. The clients stay their owner's. */
export async function openRedisRelay (clients: RedisChannelClients, { onError }: RedisRelayOptions): Promise<Relay> {
  const listeners = createLocalListeners<RelayMessage>()
  const misses = createLocalListeners<undefined>()
  let closed = false

  const channel = await openRedisChannel(clients, CHANNEL, {
    onMessage: (text) => guard(() => listeners.tell(readRelayMessage(text))),
    onRestored: () => guard(() => misses.tell(undefined)),
    onError
  })

  function guard (work: () => void): void {
    try {
      work()
    } catch (error) {
      onError(error)
    }
  }

  return {
    async send (message) {
      if (closed) return
      const text = JSON.stringify(message)
      try {
        listeners.tell(message)
      } finally {
        // A listener that fails keeps the message from no other replica.
        await channel.send(text)
      }
    },
    listen (hear, onMissed = () => {}) {
      const stops = [listeners.add(hear), misses.add(onMissed)]
      return () => { for (const stop of stops) stop() }
    },
    async close () {
      closed = true
      channel.close()
      listeners.close()
      misses.close()
    }
  }
}

/** The text is left out of the error: it belongs to clients. */
function readRelayMessage (text: string): RelayMessage {
  const message = parse(text)
  if (!isObject(message)) throw new TypeError(`a message on ${CHANNEL} is no object of JSON`)
  const { type } = message
  if (typeof type !== 'string') throw new TypeError(`a message on ${CHANNEL} has no type`)
  return { ...message, type }
}

function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
