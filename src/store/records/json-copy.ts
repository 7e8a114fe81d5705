// Copies values as `JSON.parse(JSON.stringify(value))` does. Most are copied directly, which is several times
// faster.

import { isObject } from '../../protocol/json-rpc.ts'

const NOT_PLAIN = Symbol('not plain')
/** Deeper values, and so circular ones, are copied by way of JSON text, which throws for circular ones. */
export const MAX_DEPTH = 100

/**
 * A copy of the value as JSON text would represent it. It shares no object with the value. `undefined` if the
 * value has no JSON text. Throws the errors of `JSON.stringify`.
 */
export function copyJson (value: unknown): unknown {
  const copy = copyPlain(value, 0)
  return copy === NOT_PLAIN ? viaText(value) : copy
}

/** The same for a value that is known to be a JSON value. */
export function cloneJson (json: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) return viaText(json)
  if (Array.isArray(json)) return json.map((one) => cloneJson(one, depth + 1))
  if (!isObject(json)) return json
  const copy = { ...json }
  for (const key in copy) {
    const one = copy[key]
    if (typeof one === 'object' && one !== null && Object.hasOwn(copy, key)) {
      copy[key] = cloneJson(one, depth + 1)
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
    const one = copyPlain(array[index], depth + 1)
    if (one === NOT_PLAIN) return NOT_PLAIN
    copy.push(one)
  }
  return copy
}

function copyObject (object: { readonly [key: string]: unknown }, depth: number): unknown {
  const copy: { [key: string]: unknown } = {}
  for (const key of Object.keys(object)) {
    // Assigning to this key would set the prototype.
    const one = key === '__proto__' ? NOT_PLAIN : copyPlain(object[key], depth + 1)
    if (one === NOT_PLAIN) return NOT_PLAIN
    copy[key] = one
  }
  return copy
}
