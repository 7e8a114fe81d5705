// JSON values on their way into a store and out of it.

import { cloneJson, MAX_DEPTH } from './json-copy.ts'
import type { StateValue } from './state-store.ts'

/** Becomes text only in a store that needs its bytes. */
export class JsonValue implements StateValue {
  /** Others may read it in the store: to be copied before anybody may change it. */
  readonly json: unknown
  #bytes: Buffer | undefined

  /** @param json a JSON value that nobody changes any more. */
  constructor (json: unknown) {
    this.json = json
  }

  get bytes (): Buffer {
    this.#bytes ??= Buffer.from(JSON.stringify(this.json))
    return this.#bytes
  }

  /** Whether it has more bytes than so many. Seldom makes them to find out. */
  isLongerThan (limit: number): boolean {
    return maxBytesOf(this.json, 0) > limit && this.bytes.length > limit
  }
}

/** What was written as JSON: the caller's own, who may change it. */
export function readJson (value: StateValue): unknown {
  return value instanceof JsonValue ? cloneJson(value.json) : JSON.parse(value.bytes.toString())
}

/** How many bytes its JSON can have at most: as if each character were of the kind that takes most. */
function maxBytesOf (json: unknown, depth: number): number {
  if (typeof json === 'string') return 2 + 6 * json.length
  if (typeof json !== 'object' || json === null) return 25
  if (depth > MAX_DEPTH) return Infinity
  let sum = 2
  if (Array.isArray(json)) for (const one of json) sum += 1 + maxBytesOf(one, depth + 1)
  else for (const [key, one] of Object.entries(json)) sum += 4 + 6 * key.length + maxBytesOf(one, depth + 1)
  return sum
}
