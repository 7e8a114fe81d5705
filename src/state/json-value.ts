// JSON values on their way into a store and out of it.

import { cloneJson, MAX_DEPTH } from './json-copy.ts'
import type { StateValue } from './state-store.ts'

/** Becomes text only in a store that needs its bytes. */
export class JsonValue implements StateValue {
  /** Not to be changed any more: the store has it, and others may read it there. */
  readonly json: unknown
  #bytes: Buffer | undefined

  /** @param json a JSON value that nobody else has. */
  constructor (json: unknown) {
    this.json = json
  }

  get bytes (): Buffer {
    this.#bytes ??= Buffer.from(JSON.stringify(this.json))
    return this.#bytes
  }
}

/** What was written as JSON: the caller's own, who may change it. */
export function readJson (value: StateValue): unknown {
  return value instanceof JsonValue ? cloneJson(value.json) : JSON.parse(value.bytes.toString())
}

/** The length of its JSON in bytes. Exact above the limit and near it; anything below the limit otherwise, because that is cheaper. */
export function measureJson (json: unknown, limit: number): number {
  const most = longest(json, 0)
  return most <= limit ? most : Buffer.byteLength(JSON.stringify(json))
}

/** As if each character were of the kind that takes most. */
function longest (json: unknown, depth: number): number {
  if (typeof json === 'string') return 2 + 6 * json.length
  if (typeof json !== 'object' || json === null) return 25
  if (depth > MAX_DEPTH) return Infinity
  let sum = 2
  if (Array.isArray(json)) for (const one of json) sum += 1 + longest(one, depth + 1)
  else for (const [key, one] of Object.entries(json)) sum += 4 + 6 * key.length + longest(one, depth + 1)
  return sum
}
