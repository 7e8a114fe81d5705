// The broadcast of many replicas, over a channel of the server that they share.

import type { Broadcast, ReplicaMessage } from './broadcast.ts'
import type { ChangeEvent } from './change-event.ts'
import { createLocalListeners } from './local-listeners.ts'
import { receiveReplicaText } from './replica-texts.ts'

/** Passes texts to the other replicas. The server may lose some: then the channel tells its listener. */
export interface Channel {
  /** Whether texts pass, as far as is known. */
  readonly isWhole: boolean
  /** Resolves once texts arrive. If it rejects, the channel must still be closed. */
  open (): Promise<void>
  /**
   * Rejects if the text may not have been sent.
   *
   * @param kinds what is lost with the text, for `onRestored`.
   */
  send (text: string, kinds: readonly string[]): Promise<void>
  /** Idempotent. No text is received afterwards. */
  close (): Promise<void>
}

/** `onError` is also told what the other callbacks throw: the channel must not fail because one does. */
export interface ChannelListener {
  /** Called for each text of another replica. */
  onText (text: string): void
  /** Called when texts arrive again, if texts of other replicas may have been lost. */
  onMissed (): void
  /** Called when texts can be sent again, with the kinds of those that may not have been sent. */
  onRestored (unsent: readonly string[]): void
  onError (error: unknown): void
}

export interface ChannelBroadcastOptions {
  /** The name of the channel, for errors. */
  readonly name: string
  createChannel (listener: ChannelListener): Channel
  /** The time by the clock of the server, in milliseconds since the epoch. */
  time (): Promise<number>
  /**
   * Called when an event was not sent, when a text cannot be read, when a listener throws at what another
   * replica sent, and when the others cannot be told that they missed something.
   */
  onError (error: unknown): void
}

/**
 * Resolves once texts arrive. What was not sent is not sent later: it may be out of date. The other replicas
 * are told that they missed it.
 */
export async function createChannelBroadcast (
  { name, createChannel, time, onError }: ChannelBroadcastOptions
): Promise<Broadcast> {
  const events = createLocalListeners<ChangeEvent>()
  const messages = createLocalListeners<ReplicaMessage>()
  const misses = createLocalListeners<undefined>()
  let isClosed = false

  /** Tells both, even if a listener of the first throws. */
  function tellMissed (kinds: readonly string[]): void {
    try {
      if (kinds.includes('event')) events.tell({ type: 'events-missed' })
    } finally {
      if (kinds.includes('message')) misses.tell(undefined)
    }
  }

  const channel = createChannel({
    onText (text) {
      receiveReplicaText(text, name, { onEvent: events.tell, onMessage: messages.tell, onMissed: tellMissed })
    },
    onMissed () { tellMissed(['event', 'message']) },
    onRestored (unsent) {
      // If it fails, the channel calls this again.
      channel.send(JSON.stringify({ missed: unsent }), unsent).catch(onError)
    },
    // A channel that closes breaks off its probes. That is no outage.
    onError (error) { if (!isClosed) onError(error) }
  })
  try {
    await channel.open()
  } catch (error) {
    await channel.close()
    throw error
  }

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
    time,
    async close () {
      isClosed = true
      await channel.close()
      for (const listeners of [events, messages, misses]) listeners.close()
    }
  }
}
