// Reads settings that authors write. A misspelt setting is reported with the settings that it may mean.

import { createNearestNames } from '../../base/nearest-names.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import { checkOf, createReader } from '../../platform/schema/reader.ts'
import type { Static, FormatSchema } from '../../platform/schema/type.ts'

/** How the check reports a member that a closed schema does not have. */
const NOT_KNOWN = ': is not known here; '

/** The reader returns a value of the schema's type. It throws a SyntaxError that has all problems. */
export function createSettingsReader<T extends FormatSchema> (schema: T, subject = '') {
  const findProblems = createSettingsCheck(schema)
  return (value: unknown): Static<T> => createReader(
    schema, () => new SyntaxError(`${subject}${findProblems(value).join('; ')}`)
  )(value)
}

/** Finds all problems of a value. Each begins with the path of the setting, if it is about one. */
export function createSettingsCheck (schema: FormatSchema): (value: unknown) => readonly string[] {
  const check = checkOf(schema)
  return (value) => {
    const verdict = check(value)
    if (verdict.ok) return []
    const unknown = findUnknown(schema, value)
      .map(({ key, names, place }) => `${place}: ${adviceFor(key, names)}`)
    const wrong = verdict.problems.filter((problem) => unknown.length === 0 || !problem.includes(NOT_KNOWN))
    return [...unknown, ...wrong]
  }
}

/** A member that a closed schema does not have, the names that the schema has, and the path of the member. */
interface UnknownMember {
  readonly object: object
  readonly key: string
  readonly names: readonly string[]
  readonly place: string
}

function findUnknown (schema: unknown, value: unknown, path = ''): UnknownMember[] {
  if (!isObject(schema)) return []
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown, index) => findUnknown(schema.items, item, `${path}[${index}]`))
  }
  const { properties, additionalProperties } = schema
  if (!isObject(value) || !isObject(properties)) return []
  const names = Object.keys(properties)
  return Object.entries(value).flatMap(([key, member]) => {
    const place = path === '' ? key : `${path}.${key}`
    if (Object.hasOwn(properties, key)) return findUnknown(properties[key], member, place)
    return additionalProperties === false ? [{ object: value, key, names, place }] : []
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
 * Deletes the keys that are settings of other tools, and keeps those that may be misspelt settings. Returns
 * the paths of the deleted ones.
 */
export function deleteForeignKeys (schema: FormatSchema, value: unknown): string[] {
  const foreign = findUnknown(schema, value).filter(({ key, names }) => !mayBeMisspelt(key, names))
  for (const { object, key } of foreign) Reflect.deleteProperty(object, key)
  return foreign.map(({ place }) => place)
}

function mayBeMisspelt (key: string, names: readonly string[]): boolean {
  // Without such a setting everyone would see the file.
  if (/scope|trivet/i.test(key)) return true
  const isClose = (name: string) => Math.abs(name.length - key.length) <= MAX_LENGTH_DIFFERENCE
  const letters = (name: string) => [...name.toLowerCase()].toSorted().join('')
  return createNearestNames(names)(key, isClose).length > 0 ||
    names.some((name) => letters(name) === letters(key))
}
