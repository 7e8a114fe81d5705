// Finds values that JSON would lose or change without a word, such as a Map, which becomes `{}`, and checks
// values of any kind that become JSON.

import { isPromise } from 'node:util/types'
import { clip } from '../../base/words.ts'
import { accepted, refused, type Check, type Verdict } from './check.ts'

/** Deeper values are looked at one by one, which finds cycles. */
const PLAIN_DEPTH = 100
const MAX_DEPTH = 1000

/**
 * Whether the value has only strings, finite numbers, booleans, null, arrays and plain objects: it is its own
 * JSON form. Members of objects may be undefined. Most values are plain, and this takes a fraction of the
 * time of `JSON.stringify`.
 */
export function isPlainJson (value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean': return true
    case 'number': return Number.isFinite(value)
    case 'object': break
    default: return false
  }
  if (value === null) return true
  if (depth > PLAIN_DEPTH) return false
  if (Array.isArray(value)) {
    // Not `every`: it skips the holes of an array.
    for (let index = 0; index < value.length; index++) {
      if (!isPlainJson(value[index], depth + 1)) return false
    }
    return true
  }
  if (!isPlainObject(value)) return false
  // A plain object inherits no enumerable member.
  for (const key in value) {
    const member = value[key]
    if (member !== undefined && !isPlainJson(member, depth + 1)) return false
  }
  return true
}

/** Whether the object is a literal or comes from JSON.parse, also in another realm. */
function isPlainObject (value: object): value is { readonly [key: string]: unknown } {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null ||
    (typeof prototype === 'object' && Object.getPrototypeOf(prototype) === null)
}

/**
 * Finds the first part of the value without a JSON form. Returns its place as a JSON pointer and what to do:
 * `/items/3/price: a bigint has no JSON form; return a string or a number`. `undefined` if JSON represents
 * all of it.
 */
export function findJsonLoss (value: unknown): string | undefined {
  return findLoss(value, '', [])
}

function findLoss (original: unknown, place: string, within: readonly object[]): string | undefined {
  const value = hasToJson(original) ? original.toJSON(place.slice(place.lastIndexOf('/') + 1)) : original
  const loss = describeLoss(value)
  if (loss !== undefined) return `${place || '/'}: ${loss}`
  if (typeof value !== 'object' || value === null || isBoxed(value)) return undefined
  if (within.includes(value)) {
    return `${place}: a value that contains itself has no JSON form; return its id, or leave it out`
  }
  if (within.length > MAX_DEPTH) return `${clip(place)}: is nested deeper than ${MAX_DEPTH} levels`
  const around = [...within, value]
  // Not `forEach`: it skips the holes of an array.
  for (const [key, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (member === undefined && !Array.isArray(value)) continue
    if (typeof member !== 'object' && isPlainJson(member)) continue
    const memberLoss = findLoss(member, `${place}/${toSegment(key)}`, around)
    if (memberLoss !== undefined) return memberLoss
  }
  return undefined
}

/** Asks as `JSON.stringify` does: primitive values have the method of their prototype. */
function hasToJson (value: unknown): value is { toJSON (key: string): unknown } {
  // The form of a Buffer is a list of numbers: a model can do nothing with it.
  if (value === null || value === undefined || ArrayBuffer.isView(value)) return false
  if (typeof value !== 'object' && typeof value !== 'bigint') return false
  return 'toJSON' in Object(value) && typeof Reflect.get(Object(value), 'toJSON') === 'function'
}

function describeLoss (value: unknown): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean': return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : `${value} has no JSON form; return null, or a string`
    case 'undefined': return 'undefined has no JSON form here; return null'
    case 'bigint': return 'a bigint has no JSON form; return a string or a number'
    case 'symbol': return 'a symbol has no JSON form; return a string'
    case 'function': return 'a function has no JSON form; call it, or leave it out'
    case 'object': return value === null ? undefined : describeObjectLoss(value)
  }
}

function describeObjectLoss (value: object): string | undefined {
  if (Array.isArray(value) || isPlainObject(value)) return undefined
  const name = nameOf(value)
  const loss = `${/^[AEIO]/.test(name) ? 'an' : 'a'} ${name} has no JSON form`
  if (isPromise(value)) return `${loss}; await it`
  if (value instanceof Map) return `${loss}; return Object.fromEntries(map)`
  if (ArrayBuffer.isView(value)) return `${loss}; return base64, or an array of numbers`
  if (Symbol.asyncIterator in value) return `${loss}; read it, and return what it contains`
  if (isBoxed(value)) return undefined
  if (Symbol.iterator in value) return `${loss}; return an array`
  if (value instanceof Error) return `${loss}; throw it, or return its message`
  // What JSON takes of an object are its own members. A Response and many others of the platform have none.
  if (Object.keys(value).length > 0) return undefined
  return `${loss}; give it a method toJSON, or return a plain object`
}

/** Returns the name of the class. A generator has no class: its tag is its name. */
function nameOf (value: object): string {
  const { constructor }: { constructor?: unknown } = value
  const name = typeof constructor === 'function' ? constructor.name : ''
  return name === '' ? Object.prototype.toString.call(value).slice('[object '.length, -1) : name
}

/** Whether an object stands for a primitive value, as `new String('a')` does. */
function isBoxed (value: object): boolean {
  return value instanceof String || value instanceof Number || value instanceof Boolean
}

function toSegment (key: string | number): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1')
}

/**
 * Creates the check of values that must be JSON. It accepts a value with a JSON form of its own, such as a
 * Date, if the schema accepts that form. The accepted value is plain JSON.
 * @param readsForm whether the schema is about the JSON form. Else it may be about the value, as schemas of
 * libraries are: only a value that they refuse is checked again in its JSON form.
 */
export function checkJsonForm (check: Check, readsForm: boolean): Check {
  const checkForm = (value: unknown): Verdict | Promise<Verdict> => {
    const loss = findJsonLoss(value)
    return loss === undefined ? check(toForm(value)) : refused([loss])
  }
  const toPlain = (value: unknown, verdict: Verdict): Verdict | Promise<Verdict> => {
    if (!verdict.ok) return isChecked(value) ? verdict : checkForm(value)
    if (isPlainJson(verdict.value)) return verdict
    const loss = findJsonLoss(verdict.value)
    return loss === undefined ? accepted(toForm(verdict.value)) : refused([loss])
  }
  if (readsForm) return (value) => isChecked(value) ? check(value) : checkForm(value)
  return (value) => {
    const verdict = check(value)
    return verdict instanceof Promise
      ? verdict.then(async (settled) => await toPlain(value, settled))
      : toPlain(value, verdict)
  }
}

/** Whether `check` itself says all that is wrong with the value. It does so of a missing one. */
const isChecked = (value: unknown) => value === undefined || isPlainJson(value)

/** @param value a value that JSON represents. */
function toForm (value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
