// The relay of many replicas, over a channel of Redis.

import { Type } from 'typebox'
import { openRedisChannel, type RedisChannelClients } from '../events/redis-channel.ts'
import { LOG_LEVELS } from '../protocol/log-levels.ts'
import { createReader } from '../schema/reader.ts'
import type { Relay } from './relay.ts'
import { createRelayListeners } from './relay-listeners.ts'

const CHANNEL = 'trivet:sessions'

const session = Type.String()
const stream = Type.String()

/** Another release may say what this one does not know. */
const readMessage = createReader(Type.Union([
  Type.Object({ type: Type.Literal('session-ended'), session, expiresAt: Type.Number() }),
  Type.Object({
    type: Type.Literal('session-changed'),
    session,
    settings: Type.Object({ version: Type.Number(), logLevel: Type.Optional(Type.Enum([...LOG_LEVELS])), uris: Type.Array(Type.String()) })
  }),
  Type.Object({ type: Type.Literal('stream-opened'), session, openedAt: Type.Number() }),
  Type.Object({ type: Type.Literal('call-cancelled'), session, request: Type.Union([Type.String(), Type.Number()]) }),
  Type.Object({ type: Type.Literal('answered'), session, request: Type.String(), response: Type.Unknown() }),
  Type.Object({ type: Type.Literal('answer-taken'), session, request: Type.String() }),
  Type.Object({ type: Type.Literal('stream-followed'), stream }),
  Type.Object({ type: Type.Literal('stream-written'), stream })
]), (problems) => new TypeError(`a message on ${CHANNEL} is none of this release: ${problems.join('; ')}`))

export async function openRedisRelay (clients: RedisChannelClients, { onError }: { onError (error: unknown): void }): Promise<Relay> {
  const listeners = createRelayListeners()
  const channel = await openRedisChannel(clients, CHANNEL, {
    onMessage (text) {
      try {
        listeners.tell(readMessage(JSON.parse(text)))
      } catch (error) {
        onError(error)
      }
    },
    onRestored: () => listeners.miss(),
    onError
  })
  return {
    async send (message) {
      const text = JSON.stringify(message)
      listeners.tell(message)
      await channel.send(text)
    },
    listen: listeners.listen,
    close () {
      channel.close()
      listeners.clear()
    }
  }
}
