// The broadcast of many replicas, over one Redis channel.

import type { Broadcast, ReplicaMessage } from '../../changes/broadcast.ts'
import type { ChangeEvent } from '../../changes/change-event.ts'
import { createLocalListeners } from '../../changes/local-listeners.ts'
import { receiveReplicaText } from '../../changes/replica-texts.ts'
import { createRedisChannel, type RedisChannelClients } from './channel.ts'
import { throwRedisError } from './redis-error.ts'
import { TIME, type CommandRunner } from './scripts.ts'

interface RedisBroadcastClients extends RedisChannelClients {
  readonly commands: RedisChannelClients['commands'] & CommandRunner
}

interface RedisBroadcastOptions {
  /** The name of the channel. */
  readonly channel: string
  /**
   * Called when an event was not sent, when a text cannot be read, when a listener throws at what another
   * replica sent, and when the others cannot be told that they missed something.
   */
  onError (error: unknown): void
}

/**
 * Resolves once texts arrive, and rejects if they do not in time. Closing the broadcast does not close the
 * clients. What was not sent is not sent later: it may be out of date. The other replicas are told that they
 * missed it.
 */
export async function openRedisBroadcast (
  clients: RedisBroadcastClients, { channel: name, onError }: RedisBroadcastOptions
): Promise<Broadcast> {
  const events = createLocalListeners<ChangeEvent>()
  const messages = createLocalListeners<ReplicaMessage>()
  const misses = createLocalListeners<undefined>()
  let isClosed = false

  function receive (text: string): void {
    receiveReplicaText(text, name, { onEvent: events.tell, onMessage: messages.tell, onMissed: tellMissed })
  }

  /** Tells both, even if a listener of the first throws. */
  function tellMissed (kinds: readonly string[]): void {
    try {
      if (kinds.includes('event')) events.tell({ type: 'events-missed' })
    } finally {
      if (kinds.includes('message')) misses.tell(undefined)
    }
  }

  const channel = createRedisChannel(clients, name, {
    onText: receive,
    onRestored ({ isMissed, unsent }) {
      // If it fails, the channel reports this gap again.
      if (unsent.length > 0) channel.send(JSON.stringify({ missed: unsent }), unsent).catch(onError)
      if (isMissed) tellMissed(['event', 'message'])
    },
    onError
  })
  await channel.open()

  return {
    get isConnected () { return channel.isWhole },
    async publish (event) {
      if (isClosed) return
      // Sent first, so that a listener that throws does not keep the event from the other replicas.
      const sending = channel.send(JSON.stringify({ event }), ['event']).catch(onError)
      try {
        events.tell(event)
      } finally {
        await sending
      }
    },
    subscribe: (listener) => events.add(listener),
    async send (message) {
      if (isClosed) return
      const sending = channel.send(JSON.stringify({ message }), ['message'])
      try {
        messages.tell(message)
      } finally {
        await sending
      }
    },
    listen (listener, onMissed = () => {}) {
      const stops = [messages.add(listener), misses.add(onMissed)]
      return () => { for (const stop of stops) stop() }
    },
    time: async () => Number(await clients.commands.call('EVAL', TIME, 1, name).catch(throwRedisError)),
    async close () {
      isClosed = true
      channel.close()
      for (const listeners of [events, messages, misses]) listeners.close()
    }
  }
}
