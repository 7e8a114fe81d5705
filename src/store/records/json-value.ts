// JSON values in a store.

import { cloneJson, MAX_DEPTH } from './json-copy.ts'
import type { StateValue } from './state-store.ts'

/** Is serialised only for a store that needs bytes. */
export class JsonValue implements StateValue {
  /** Shared with other readers of the store: copy it before changing it. */
  readonly json: unknown
  #bytes: Buffer | undefined

  /** @param json a JSON value that is never changed from now on. */
  constructor (json: unknown) {
    this.json = json
  }

  get bytes (): Buffer {
    this.#bytes ??= Buffer.from(JSON.stringify(this.json))
    return this.#bytes
  }

  /**
   * Whether the JSON text has more bytes than this. Serialises the value only if an estimate exceeds the
   * limit.
   */
  isLongerThan (limit: number): boolean {
    return maxBytesOf(this.json, 0) > limit && this.bytes.length > limit
  }
}

/** The value as a copy that the caller may change. */
export function readJson (value: StateValue): unknown {
  return value instanceof JsonValue ? cloneJson(value.json) : JSON.parse(value.bytes.toString())
}

/** An upper bound of the bytes of the JSON text: each character counts as its longest escape. */
function maxBytesOf (json: unknown, depth: number): number {
  if (typeof json === 'string') return 2 + 6 * json.length
  if (typeof json !== 'object' || json === null) return 25
  if (depth > MAX_DEPTH) return Infinity
  let sum = 2
  if (Array.isArray(json)) for (const one of json) sum += 1 + maxBytesOf(one, depth + 1)
  else for (const [key, one] of Object.entries(json)) sum += 4 + 6 * key.length + maxBytesOf(one, depth + 1)
  return sum
}
