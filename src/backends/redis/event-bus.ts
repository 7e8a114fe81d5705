// The bus of many replicas, over Redis or Valkey.

import type { ChangeEvent } from '../../events/change-event.ts'
import type { EventBus } from '../../events/event-bus.ts'
import { createLocalListeners } from '../../events/local-listeners.ts'
import { openRedisChannel, type RedisChannelClients } from './channel.ts'

const CHANNEL = 'trivet:events'
const MISSED: ChangeEvent = { type: 'events-missed' }

export interface RedisEventBusOptions {
  /** Told of what could not be handed over, of messages that are no events, and of listeners that failed. */
  onError (error: unknown): void
}

/**
 * Resolves once events come through, and rejects where they do not in time. The clients stay their owner's.
 * An outage afterwards is no failure of `publish`: this process is told at once, and all others that they missed something.
 */
export async function openRedisEventBus (clients: RedisChannelClients, { onError }: RedisEventBusOptions): Promise<EventBus> {
  const listeners = createLocalListeners<ChangeEvent>()
  let closed = false

  const channel = await openRedisChannel(clients, CHANNEL, {
    onMessage: (text) => guard(() => listeners.tell(readEvent(text))),
    onRestored ({ isMissed, isUnsent }) {
      if (isMissed) guard(() => listeners.tell(MISSED))
      if (isUnsent) hand(MISSED).catch(onError)
    },
    onError
  })

  function guard (work: () => void): void {
    try {
      work()
    } catch (error) {
      onError(error)
    }
  }

  async function hand (event: ChangeEvent): Promise<void> {
    await channel.send(JSON.stringify(event)).catch(onError)
  }

  return {
    async publish (event) {
      if (closed) return
      // First of all, so that a listener that fails keeps nothing from the other replicas.
      const handed = hand(event)
      try {
        listeners.tell(event)
      } finally {
        await handed
      }
    },
    subscribe: (hear) => listeners.add(hear),
    async close () {
      closed = true
      channel.close()
      listeners.close()
    }
  }
}

function readEvent (text: string): ChangeEvent {
  const { type, uri, owner }: { type?: unknown, uri?: unknown, owner?: unknown } = JSON.parse(text) ?? {}
  switch (type) {
    case 'tools-changed':
    case 'prompts-changed':
    case 'resources-changed':
    case 'events-missed': return { type }
    case 'resource-updated': if (typeof uri === 'string') return { type, uri, ...(typeof owner === 'string' && { owner }) }
  }
  throw new TypeError(`a message on ${CHANNEL} is no event of this version: ${text.slice(0, 100)}`)
}
