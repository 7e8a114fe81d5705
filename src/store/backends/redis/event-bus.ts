// The bus of many replicas, over a Redis channel.

import type { ChangeEvent } from '../../changes/change-event.ts'
import type { EventBus } from '../../changes/event-bus.ts'
import { createLocalListeners } from '../../changes/local-listeners.ts'
import { openRedisChannel, type RedisChannelClients } from './channel.ts'
import { readObject } from './message.ts'

const MISSED: ChangeEvent = { type: 'events-missed' }

interface RedisEventBusOptions {
  /** The name of the channel. */
  readonly channel: string
  /** Called when an event was not sent, when a message is no event, and when a listener throws. */
  onError (error: unknown): void
}

/**
 * Resolves once events arrive, and rejects if they do not in time. Closing the bus does not close the
 * clients. `publish` does not reject in an outage: the listeners of this process are called at once, and all
 * others get `events-missed` after the outage.
 */
export async function openRedisEventBus (
  clients: RedisChannelClients, { channel: name, onError }: RedisEventBusOptions
): Promise<EventBus> {
  const listeners = createLocalListeners<ChangeEvent>()
  let closed = false

  const channel = await openRedisChannel(clients, name, {
    onMessage: (text) => listeners.tell(readEvent(text, name)),
    onRestored ({ isMissed, isUnsent }) {
      if (isMissed) listeners.tell(MISSED)
      if (isUnsent) sendToReplicas(MISSED).catch(onError)
    },
    onError
  })

  async function sendToReplicas (event: ChangeEvent): Promise<void> {
    await channel.send(JSON.stringify(event)).catch(onError)
  }

  return {
    get isConnected () { return channel.isWhole },
    async publish (event) {
      if (closed) return
      // Sent first, so that a listener that throws does not keep the event from the other replicas.
      const sent = sendToReplicas(event)
      try {
        listeners.tell(event)
      } finally {
        await sent
      }
    },
    subscribe: (listener) => listeners.add(listener),
    async close () {
      closed = true
      channel.close()
      listeners.close()
    }
  }
}

function readEvent (text: string, channel: string): ChangeEvent {
  const { type, uri, owner, seenBy, templates, entry, isOver } = readObject(text, channel)
  switch (type) {
    case 'tools-changed':
    case 'prompts-changed':
    case 'resources-changed':
      if (seenBy === undefined) return { type }
      if (isScopeSets(seenBy)) return { type, seenBy }
      break
    case 'resources-outdated':
      if (templates === undefined) return { type }
      if (isTexts(templates)) return { type, templates }
      break
    case 'events-missed': return { type }
    case 'task-changed':
      if (typeof entry === 'string' && typeof isOver === 'boolean') return { type, entry, isOver }
      break
    case 'resource-updated': {
      if (typeof uri !== 'string' || (seenBy !== undefined && !isScopeSets(seenBy))) break
      const seen = seenBy === undefined ? {} : { seenBy }
      return { type, uri, ...(typeof owner === 'string' && { owner }), ...seen }
    }
  }
  throw new TypeError(`a message on ${channel} is no event of this release`)
}

function isScopeSets (value: unknown): value is string[][] {
  return Array.isArray(value) && value.every(isTexts)
}

function isTexts (value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
