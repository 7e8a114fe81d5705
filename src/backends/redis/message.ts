import { isObject } from '../../protocol/json-rpc.ts'

/**
 * The object that a text of a channel stands for. Throws a TypeError without the text, which belongs to
 * clients. The text may be of another release, or of another program.
 */
export function readObject (text: string, channel: string): { readonly [member: string]: unknown } {
  const message = parse(text)
  if (!isObject(message)) throw new TypeError(`a message on ${channel} is no object of JSON`)
  return message
}

function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
