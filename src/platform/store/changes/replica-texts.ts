// The texts that replicas send each other over a server: a JSON object with one member, `event`, `message`,
// or `missed` with the kinds that could not be sent.

import { isObject, parseJson } from '../../protocol/json-rpc.ts'
import type { ReplicaMessage } from './broadcast.ts'
import type { ChangeEvent } from './change-event.ts'

/** Takes the content of a text. */
export interface ReplicaTextReceiver {
  onEvent (event: ChangeEvent): void
  onMessage (message: ReplicaMessage): void
  /** @param kinds `event`, `message` or both. */
  onMissed (kinds: readonly string[]): void
}

/**
 * Reads a text that another release or another program may have sent. Throws a TypeError that does not have
 * the text, because it is data of clients.
 *
 * @param channel where the text came from, for the error.
 */
export function receiveReplicaText (text: string, channel: string, receiver: ReplicaTextReceiver): void {
  const { event, message, missed } = readObject(parseJson(text), channel)
  if (event !== undefined) receiver.onEvent(readEvent(readObject(event, channel), channel))
  else if (message !== undefined) receiver.onMessage(readMessage(readObject(message, channel), channel))
  else if (isTexts(missed)) receiver.onMissed(missed)
  else throw new TypeError(`a message on ${channel} is of another release`)
}

type ChannelObject = { readonly [member: string]: unknown }

function readObject (value: unknown, channel: string): ChannelObject {
  if (!isObject(value)) throw new TypeError(`a message on ${channel} is no JSON object`)
  return value
}

function readMessage ({ type, ...members }: ChannelObject, channel: string): ReplicaMessage {
  if (typeof type !== 'string') throw new TypeError(`a message on ${channel} has no type`)
  return { ...members, type }
}

function readEvent (
  { type, uri, owner, seenBy, templates, entry, isOver, run }: ChannelObject, channel: string
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
      if (typeof entry !== 'string' || typeof isOver !== 'boolean') break
      return { type, entry, isOver, ...typeof run === 'number' && { run } }
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
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
