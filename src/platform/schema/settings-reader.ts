// Reads settings that authors write. A misspelt setting is reported with the settings that it may mean.

import { createNearestNames } from '../../base/nearest-names.ts'
import { isObject } from '../protocol/json-rpc.ts'
import { checkOf } from './reader.ts'
import type { Static, FormatSchema } from './type.ts'

/** How the check reports a member that a closed schema does not have. */
const NOT_KNOWN = ': is not known here; '

/** The reader returns a value of the schema's type. It throws a SyntaxError that has all problems. */
export function createSettingsReader<T extends FormatSchema> (
  schema: T, subject = ''
): (value: unknown) => Static<T> {
  const findProblems = createSettingsCheck(schema)
  function assertAccepted (value: unknown): asserts value is Static<T> {
    const wrong = findProblems(value)
    if (wrong.length > 0) throw new SyntaxError(`${subject}${wrong.join('; ')}`)
  }
  return (value) => {
    assertAccepted(value)
    return value
  }
}

/** Finds all problems of a value. Each begins with the path of the setting, if it is about one. */
export function createSettingsCheck (schema: FormatSchema): (value: unknown) => readonly string[] {
  const check = checkOf(schema)
  return (value) => {
    const verdict = check(value)
    if (verdict.ok) return []
    const unknown = findUnknown(schema, value, '')
    const wrong = verdict.problems.filter((problem) => unknown.length === 0 || !problem.includes(NOT_KNOWN))
    return [...unknown, ...wrong]
  }
}

function findUnknown (schema: unknown, value: unknown, path: string): string[] {
  if (!isObject(schema)) return []
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => findUnknown(schema.items, item, `${path}[${index}]`))
  }
  const { properties, additionalProperties } = schema
  if (!isObject(value) || !isObject(properties)) return []
  return Object.entries(value).flatMap(([name, member]) => {
    const place = path === '' ? name : `${path}.${name}`
    if (Object.hasOwn(properties, name)) return findUnknown(properties[name], member, place)
    return additionalProperties === false ? [`${place}: ${adviceFor(name, Object.keys(properties))}`] : []
  })
}

function adviceFor (name: string, names: readonly string[]): string {
  const [nearest] = createNearestNames(names)(name, () => true)
  return nearest === undefined
    ? `is not known here; the settings are ${names.join(', ')}`
    : `is not known here; did you mean ${nearest}?`
}

/** The most letters that a misspelt name has more or fewer than the right one. */
const MAX_LENGTH_DIFFERENCE = 2

/**
 * Takes out the keys that are settings of other tools, and keeps those that may be misspelt settings.
 * @param onForeign called with the path of each key that is taken out.
 */
export function withoutForeignKeys (
  schema: unknown, value: unknown, onForeign: (path: string) => void, path = ''
): unknown {
  if (!isObject(schema)) return value
  if (Array.isArray(value)) {
    return value.map((item, index) => withoutForeignKeys(schema.items, item, onForeign, `${path}[${index}]`))
  }
  const { properties, additionalProperties } = schema
  if (!isObject(value) || !isObject(properties) || additionalProperties !== false) return value
  const names = Object.keys(properties)
  return Object.fromEntries(Object.entries(value).flatMap(([key, member]) => {
    const place = path === '' ? key : `${path}.${key}`
    if (Object.hasOwn(properties, key) || mayBeMisspelt(key, names)) {
      return [[key, withoutForeignKeys(properties[key], member, onForeign, place)]]
    }
    onForeign(place)
    return []
  }))
}

function mayBeMisspelt (key: string, names: readonly string[]): boolean {
  // Without such a setting everyone would see the file.
  if (/scope|trivet/i.test(key)) return true
  const isClose = (name: string) => Math.abs(name.length - key.length) <= MAX_LENGTH_DIFFERENCE
  const letters = (name: string) => [...name.toLowerCase()].toSorted().join('')
  return createNearestNames(names)(key, isClose).length > 0 ||
    names.some((name) => letters(name) === letters(key))
}
