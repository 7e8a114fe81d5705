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
