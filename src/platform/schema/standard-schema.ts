// Reads schemas of other libraries (Zod, Valibot, ArkType) through their common interface, Standard Schema.
// https://standardschema.dev

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { messageOf } from '../../base/words.ts'
import { isObject } from '../protocol/json-rpc.ts'
import type { JsonSchema } from '../protocol/primitives.ts'
import { accepted, MAX_PROBLEMS, refused, type Check, type Verdict } from './check.ts'
import { SchemaError } from './json-schema.ts'

/** What a schema says of itself. Not every library can write JSON Schema. */
type Standard = StandardSchemaV1['~standard'] & Partial<StandardJSONSchemaV1['~standard']>

export function isStandardSchema (schema: unknown): schema is StandardSchemaV1 {
  if (typeof schema !== 'function' && (typeof schema !== 'object' || schema === null)) return false
  return '~standard' in schema
}

type Direction = 'input' | 'output'

/** What a library says of a schema that it made. Zod 4 has the version, Zod 3 the name of the type. */
interface Traces { readonly _zod?: unknown, readonly _def?: unknown }

type ToJsonSchema = (
  schema: object, options: { readonly target: 'draft-2020-12', readonly io: Direction }
) => JsonSchema

/** The function `toJSONSchema` of each Zod that was noted, by version. */
const converters = new Map<string, ToJsonSchema>()

/**
 * Notes a package, if it is a Zod 4. Schemas of Zod before 4.2 and of zod/mini have no method for their JSON
 * Schema, and no link to the function that finds it.
 */
export function noteSchemaLibrary (
  { core, version, toJSONSchema }: { readonly [name: string]: unknown }
): void {
  const zodVersion = versionOf(isObject(core) ? core.version : version)
  if (zodVersion !== undefined && isConverter(toJSONSchema)) converters.set(zodVersion, toJSONSchema)
}

function isConverter (value: unknown): value is ToJsonSchema {
  return typeof value === 'function'
}

function versionOf (version: unknown): string | undefined {
  return isObject(version) ? `${version.major}.${version.minor}.${version.patch}` : undefined
}

/** Throws a SchemaError for a schema of Zod 3. Until Zod 3.24 these are no Standard Schemas. */
export function refuseZod3 ({ _def }: Traces): void {
  if (!isObject(_def) || typeof _def.typeName !== 'string' || !_def.typeName.startsWith('Zod')) return
  throw new SchemaError([
    'a schema of Zod 3, which cannot describe it as JSON Schema; use Zod 4 (Zod 3.25 has it as zod/v4), or ' +
    'pass what zod-to-json-schema makes of it'
  ])
}

/**
 * Returns the JSON Schema of a value before the schema transforms it (`input`) or after (`output`). Throws a
 * SchemaError when the library cannot describe the schema.
 */
export function toJsonSchema (schema: StandardSchemaV1 & Traces, direction: Direction): JsonSchema {
  refuseZod3(schema)
  const target = 'draft-2020-12'
  const { vendor, jsonSchema: method }: Standard = schema['~standard']
  const zodVersion = isObject(schema._zod) ? versionOf(schema._zod.version) : undefined
  const convert = converters.get(zodVersion ?? '')
  try {
    if (method !== undefined) return method[direction]({ target })
    if (convert !== undefined) return convert(schema, { target, io: direction })
  } catch (error) {
    throw new SchemaError([`the ${vendor} schema has no JSON Schema: ${messageOf(error)}`])
  }
  const library = zodVersion === undefined ? `a ${vendor} schema` : `a schema of Zod ${zodVersion}`
  const wayOut = WAYS_OUT.get(vendor) ?? 'pass a JSON Schema'
  throw new SchemaError([`${library} that cannot describe itself as JSON Schema; ${wayOut}`])
}

/** What an author can do, by vendor. */
const WAYS_OUT = new Map([
  ['zod', 'import its zod in a module of the catalog too, or pass z.toJSONSchema(schema)'],
  ['valibot', 'wrap it with toStandardJsonSchema of @valibot/to-json-schema']
])

export function toCheck (schema: StandardSchemaV1): Check {
  return (value) => {
    const result = schema['~standard'].validate(value)
    return result instanceof Promise ? result.then(toVerdict) : toVerdict(result)
  }
}

function toVerdict (result: StandardSchemaV1.Result<unknown>): Verdict {
  if (result.issues === undefined) return accepted(result.value)
  const issues = result.issues.slice(0, MAX_PROBLEMS)
  return refused(
    issues.map((issue) => `${keysOfIssue(issue).join('.') || 'value'}: ${issue.message}`),
    new Set(result.issues.map((issue) => keysOfIssue(issue).join('/')))
  )
}

function keysOfIssue ({ path }: StandardSchemaV1.Issue): string[] {
  // Not `path.map`: ArkType's own array class maps an empty path to [0].
  return Array.from(path ?? [], (segment) => String(typeof segment === 'object' ? segment.key : segment))
}
