// The broadcast of many replicas, over one channel of PostgreSQL.

import type { Broadcast, ReplicaMessage } from '../../changes/broadcast.ts'
import type { ChangeEvent } from '../../changes/change-event.ts'
import { createLocalListeners } from '../../changes/local-listeners.ts'
import { receiveReplicaText } from '../../changes/replica-texts.ts'
import { createPostgresChannel } from './channel.ts'
import type { PostgresTarget } from './connection.ts'
import { throwPostgresError } from './postgres-error.ts'
import type { SchemaNames } from './schema.ts'
import { NOW_MS, readNumber, toStatement, type StatementRunner } from './statement.ts'

interface BroadcastDependencies {
  readonly target: PostgresTarget
  readonly runner: StatementRunner
  readonly names: SchemaNames
  /**
   * Called when an event was not sent, when a text cannot be read, when a listener throws at what another
   * replica sent, and when the others cannot be told that they missed something.
   */
  onError (error: unknown): void
}

const TIME = toStatement(`SELECT ${NOW_MS}`)

/**
 * Resolves once texts arrive. Closing the broadcast does not close the connections of the runner. What was
 * not sent is not sent later: it may be out of date. The other replicas are told that they missed it.
 */
export async function openPostgresBroadcast (
  { target, runner, names, onError }: BroadcastDependencies
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

  const channel = createPostgresChannel({ target, runner, names }, {
    onText (text) {
      receiveReplicaText(text, `${names.schema}.messages`, {
        onEvent: events.tell, onMessage: messages.tell, onMissed: tellMissed
      })
    },
    onMissed () { tellMissed(['event', 'message']) },
    onRestored (unsent) {
      // If it fails, the channel reports the gap again.
      channel.send(JSON.stringify({ missed: unsent }), unsent).catch(onError)
    },
    onError
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
    async time () {
      const [[time] = []] = await runner.run(TIME).catch(throwPostgresError)
      return readNumber(time)
    },
    async close () {
      isClosed = true
      await channel.close()
      for (const listeners of [events, messages, misses]) listeners.close()
    }
  }
}
