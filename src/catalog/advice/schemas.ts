// Schemas of arguments that models fill in badly.

import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { JsonSchema } from '../../platform/protocol/primitives.ts'
import { TOP_UNIONS } from './hosts.ts'
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

/** Proxies and servers write headers to their logs. */
const HEADER = 'x-mcp-header'
const SECRET = /passw|secret|token|credential|authorization|cookie|api[-_]?key|private[-_]?key|\bpin\b|\bssn\b/i

/** @param place where the schema is, as a path from the definition. */
export function adviseOnSchema (schema: object, place: string, advise: Advise): void {
  visit(schema, { place, unions: 0, names: [] }, advise)
}

/** Advises on an input schema whose tool does not say whether to flatten it. */
export function adviseOnTopUnion (schema: JsonSchema, advise: Advise): void {
  const union = TOP_UNIONS.find((keyword) => keyword in schema)
  if (union === undefined) return
  const problem = 'is a choice at the top of the arguments, which many hosts lose'
  advise('union', `inputSchema.${union}`, `${problem}: set flattenUnion to true, or to false to keep it`)
}

interface Position {
  readonly place: string
  /** How many choices the schema is within. */
  readonly unions: number
  /** The properties of the schemas that have this one as a branch: it is about the same object. */
  readonly names: readonly string[]
}

function visit (schema: unknown, { place, unions, names: outer }: Position, advise: Advise): void {
  if (!isObject(schema)) return
  const properties = isObject(schema.properties) ? schema.properties : {}
  const names = [...outer, ...Object.keys(properties)]
  for (const [name, property] of Object.entries(properties)) {
    const at = `${place}.properties.${name}`
    if (isBare(property)) {
      advise('bare-object', at, 'says nothing about its value: a model must guess what to send')
    }
    if (isObject(property) && HEADER in property && SECRET.test(`${name} ${String(property[HEADER])}`)) {
      const problem = 'looks like a secret, and is copied into a header, which proxies log'
      advise('secret-header', at, `${problem}: leave ${HEADER} out`)
    }
    visit(property, { place: at, unions, names: [] }, advise)
  }
  adviseOnRequired(schema, { place, unions, names }, advise)
  for (const keyword of UNIONS) {
    const branches = schema[keyword]
    if (!Array.isArray(branches)) continue
    const at = `${place}.${keyword}`
    if (branches.length > MAX_BRANCHES) {
      const problem = `models choose badly between more than ${MAX_BRANCHES}`
      advise('union', at, `has ${branches.length} branches: ${problem}`)
    }
    if (unions > 0) advise('union', at, 'is a choice within a choice: make one tool for each case instead')
    for (const [index, branch] of branches.entries()) {
      visit(branch, { place: `${at}[${index}]`, unions: unions + 1, names }, advise)
    }
  }
  for (const keyword of ['items', 'additionalProperties']) {
    visit(schema[keyword], { place: `${place}.${keyword}`, unions, names: [] }, advise)
  }
}

/** Each of them may describe a property beside `properties`. */
const DESCRIBING = [
  'patternProperties', '$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'
]

/** Such a name is most often misspelt: each call without it is refused, and no schema asks for it. */
function adviseOnRequired (schema: JsonSchema, { place, names }: Position, advise: Advise): void {
  const { required, additionalProperties } = schema
  if (!Array.isArray(required) || isObject(additionalProperties)) return
  if (DESCRIBING.some((keyword) => keyword in schema)) return
  for (const name of required) {
    if (typeof name !== 'string' || names.includes(name)) continue
    advise('required', `${place}.required`, `names ${JSON.stringify(name)}, which properties does not have`)
  }
}

function isBare (schema: unknown): boolean {
  if (schema === true) return true
  if (!isObject(schema)) return false
  if (!TELLING.some((keyword) => keyword in schema)) return true
  return schema.type === 'object' && !isObject(schema.additionalProperties) &&
    !TELLING_OF_OBJECTS.some((keyword) => keyword in schema)
}
