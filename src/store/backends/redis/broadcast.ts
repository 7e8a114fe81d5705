// The broadcast of many replicas, over one Redis channel. A text on it is a JSON object with one member:
// `event`, `message`, or `missed` with the members that could not be sent.

import { isObject } from '../../../protocol/json-rpc.ts'
import type { Broadcast, ReplicaMessage } from '../../changes/broadcast.ts'
import type { ChangeEvent } from '../../changes/change-event.ts'
import { createLocalListeners } from '../../changes/local-listeners.ts'
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
    const { event, message, missed } = readObject(parse(text), name)
    if (event !== undefined) events.tell(readEvent(readObject(event, name), name))
    else if (message !== undefined) messages.tell(readMessage(readObject(message, name), name))
    else if (isTexts(missed)) tellMissed(missed)
    else throw new TypeError(`a message on ${name} is of another release`)
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

type ChannelObject = { readonly [member: string]: unknown }

function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Checks what another release or another program may have sent. Throws a TypeError that does not contain the
 * value, because it is data of clients.
 */
function readObject (value: unknown, channel: string): ChannelObject {
  if (!isObject(value)) throw new TypeError(`a message on ${channel} is no JSON object`)
  return value
}

function readMessage ({ type, ...members }: ChannelObject, channel: string): ReplicaMessage {
  if (typeof type !== 'string') throw new TypeError(`a message on ${channel} has no type`)
  return { ...members, type }
}

function readEvent (
  { type, uri, owner, seenBy, templates, entry, isOver }: ChannelObject, channel: string
): ChangeEvent {
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
    case 'resource-updated':
      if (typeof uri !== 'string' || (seenBy !== undefined && !isScopeSets(seenBy))) break
      return { type, uri, ...typeof owner === 'string' && { owner }, ...seenBy !== undefined && { seenBy } }
  }
  throw new TypeError(`a message on ${channel} is no event of this release`)
}

function isScopeSets (value: unknown): value is string[][] {
  return Array.isArray(value) && value.every(isTexts)
}

function isTexts (value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
