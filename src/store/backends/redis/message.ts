// Parses the messages of channels.

import { isObject } from '../../../protocol/json-rpc.ts'

/**
 * Parses the text of a channel, which may come from another release or another program. Throws a TypeError
 * that does not contain the text, because the text is data of clients.
 */
export function readObject (text: string, channel: string): { readonly [member: string]: unknown } {
  const message = parse(text)
  if (!isObject(message)) throw new TypeError(`a message on ${channel} is no JSON object`)
  return message
}

function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
