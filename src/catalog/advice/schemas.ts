// Schemas of arguments that models fill in badly.

import { isObject } from '../../protocol/json-rpc.ts'
import type { Advise } from './piece.ts'

const MAX_BRANCHES = 5
/** Each of them says something about the values. */
const TELLING = [
  'type', 'enum', 'const', '$ref', '$dynamicRef', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'properties'
]
/** Each of them says something about the members of an object. */
const TELLING_OF_OBJECTS = [
  'properties', 'patternProperties', 'propertyNames', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf', 'if'
]
const UNIONS = ['anyOf', 'oneOf']

/** @param place where the schema is, as a path from the definition. */
export function adviseOnSchema (schema: object, place: string, advise: Advise): void {
  visit(schema, place, 0, advise)
}

function visit (schema: unknown, place: string, unions: number, advise: Advise): void {
  if (!isObject(schema)) return
  for (const [name, property] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
    const at = `${place}.properties.${name}`
    if (isBare(property)) {
      advise('bare-object', at, 'says nothing about its value: a model must guess what to send')
    }
    visit(property, at, unions, advise)
  }
  for (const keyword of UNIONS) {
    const branches = schema[keyword]
    if (!Array.isArray(branches)) continue
    const at = `${place}.${keyword}`
    if (branches.length > MAX_BRANCHES) {
      const problem = `models choose badly between more than ${MAX_BRANCHES}`
      advise('union', at, `has ${branches.length} branches: ${problem}`)
    }
    if (unions > 0) advise('union', at, 'is a choice within a choice: make one tool for each case instead')
    for (const [index, branch] of branches.entries()) visit(branch, `${at}[${index}]`, unions + 1, advise)
  }
  visit(schema.items, `${place}.items`, unions, advise)
  visit(schema.additionalProperties, `${place}.additionalProperties`, unions, advise)
}

function isBare (schema: unknown): boolean {
  if (schema === true) return true
  if (!isObject(schema)) return false
  if (!TELLING.some((keyword) => keyword in schema)) return true
  return schema.type === 'object' && !isObject(schema.additionalProperties) &&
    !TELLING_OF_OBJECTS.some((keyword) => keyword in schema)
}
