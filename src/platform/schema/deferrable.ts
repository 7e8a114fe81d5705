// Finds schemas whose compilation may wait for the first call: compiling a schema takes a millisecond. A
// schema that holds only the keywords below, with values as below, always compiles, and its meta-schema
// accepts it. Most catalogs hold no other schemas, and then need no meta-schema, which takes long to compile.

import { isObject } from '../protocol/json-rpc.ts'

const TYPES = new Set<unknown>(['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'])

const isAnything = (value: unknown) => value !== undefined
const isText = (value: unknown) => typeof value === 'string'
const isFlag = (value: unknown) => typeof value === 'boolean'
const isBound = Number.isFinite
const isScalar = (value: unknown) => typeof value !== 'object' || value === null
const isCount = (value: unknown) => Number.isInteger(value) && Number(value) >= 0
const isSet = (value: unknown): value is readonly unknown[] => {
  return Array.isArray(value) && new Set(value).size === value.length
}

const KEYWORDS: ReadonlyMap<string, (value: unknown) => boolean> = new Map(Object.entries({
  $comment: isText,
  title: isText,
  description: isText,
  default: isAnything,
  examples: Array.isArray,
  deprecated: isFlag,
  readOnly: isFlag,
  writeOnly: isFlag,
  'x-mcp-header': isAnything,
  type: (value: unknown) => TYPES.has(value) ||
    (isSet(value) && value.length > 0 && value.every((type) => TYPES.has(type))),
  const: isAnything,
  // The compiler accepts no empty `enum`, and the meta-schema of draft-07 none that has a value twice.
  enum: (value: unknown) => isSet(value) && value.length > 0 && value.every(isScalar),
  required: (value: unknown) => isSet(value) && value.every(isText),
  minimum: isBound,
  maximum: isBound,
  exclusiveMinimum: isBound,
  exclusiveMaximum: isBound,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  uniqueItems: isFlag,
  minProperties: isCount,
  maxProperties: isCount,
  properties: (value: unknown) => isObject(value) && Object.values(value).every(isDeferrableSubschema),
  items: isDeferrableSubschema,
  additionalProperties: isDeferrableSubschema
}))

/** Whether the schema is valid and always compiles. Its dialect must be a known one. */
export function isDeferrable (schema: unknown): boolean {
  if (!isObject(schema)) return false
  const { $schema, ...keywords } = schema
  return isDeferrableSubschema(keywords)
}

function isDeferrableSubschema (schema: unknown): boolean {
  if (typeof schema === 'boolean') return true
  return isObject(schema) &&
    Object.entries(schema).every(([keyword, value]) => KEYWORDS.get(keyword)?.(value) === true)
}
