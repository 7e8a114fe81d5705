// JSON values in a store, and copies of them.

import { isObject } from '../../protocol/json-rpc.ts'
import type { StateValue } from './state-store.ts'

const NOT_PLAIN = Symbol('not plain')
/** Deeper values, and so circular ones, are copied by way of JSON text, which throws for circular ones. */
const MAX_DEPTH = 100

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

/** Returns the value as a copy that the caller may change. */
export function readJson (value: StateValue): unknown {
  return value instanceof JsonValue ? cloneJson(value.json) : JSON.parse(value.bytes.toString())
}

/** Returns an upper bound of the bytes of the JSON text: each character counts as its longest escape. */
function maxBytesOf (json: unknown, depth: number): number {
  if (typeof json === 'string') return 2 + 6 * json.length
  if (typeof json !== 'object' || json === null) return 25
  if (depth > MAX_DEPTH) return Infinity
  let sum = 2
  if (Array.isArray(json)) for (const item of json) sum += 1 + maxBytesOf(item, depth + 1)
  else for (const [key, item] of Object.entries(json)) sum += 4 + 6 * key.length + maxBytesOf(item, depth + 1)
  return sum
}

/**
 * Copies a value as `JSON.parse(JSON.stringify(value))` does. Most are copied directly, which is several
 * times faster. The copy shares no object with the value. `undefined` if the value has no JSON text. Throws
 * the errors of `JSON.stringify`.
 */
export function copyJson (value: unknown): unknown {
  const copy = copyPlain(value, 0)
  return copy === NOT_PLAIN ? viaText(value) : copy
}

/** Copies a value that is known to be a JSON value. */
export function cloneJson (json: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) return viaText(json)
  if (Array.isArray(json)) return json.map((item) => cloneJson(item, depth + 1))
  if (!isObject(json)) return json
  const copy = { ...json }
  for (const key in copy) {
    const item = copy[key]
    if (typeof item === 'object' && item !== null && Object.hasOwn(copy, key)) {
      copy[key] = cloneJson(item, depth + 1)
    }
  }
  return copy
}

function viaText (value: unknown): unknown {
  const json: string | undefined = JSON.stringify(value)
  return json === undefined ? undefined : JSON.parse(json)
}

function copyPlain (value: unknown, depth: number): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0) ? value : NOT_PLAIN
  if (typeof value !== 'object' || depth > MAX_DEPTH || 'toJSON' in value) return NOT_PLAIN
  if (Array.isArray(value)) return copyArray(value, depth)
  return isObject(value) && Object.getPrototypeOf(value) === Object.prototype
    ? copyObject(value, depth)
    : NOT_PLAIN
}

function copyArray (array: readonly unknown[], depth: number): unknown {
  const copy: unknown[] = []
  for (let index = 0; index < array.length; index++) {
    const item = copyPlain(array[index], depth + 1)
    if (item === NOT_PLAIN) return NOT_PLAIN
    copy.push(item)
  }
  return copy
}

function copyObject (object: { readonly [key: string]: unknown }, depth: number): unknown {
  const copy: { [key: string]: unknown } = {}
  for (const key of Object.keys(object)) {
    // Assigning to this key would set the prototype.
    const item = key === '__proto__' ? NOT_PLAIN : copyPlain(object[key], depth + 1)
    if (item === NOT_PLAIN) return NOT_PLAIN
    copy[key] = item
  }
  return copy
}
