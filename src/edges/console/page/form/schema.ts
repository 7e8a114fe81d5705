// Reads JSON Schemas for forms: references, joined schemas, kinds of field, and first values. The service
// checks the values; a form only offers what fits.
// https://json-schema.org/draft/2020-12/json-schema-core

import { isRecord, type JsonObject } from '../connection/json.ts'

/** A schema whose `$ref` and `allOf` are resolved. */
export type ResolvedSchema = JsonObject

/** A schema object belongs to one root, and is resolved once. */
const resolved = new WeakMap<object, ResolvedSchema>()

/** Returns the schema with its references and `allOf` put into it. Its members are not resolved. */
export function resolve (schema: unknown, root: JsonObject): ResolvedSchema {
  if (!isRecord(schema)) return schema === false ? { not: {} } : {}
  if (typeof schema.$ref !== 'string' && !Array.isArray(schema.allOf)) return schema
  const before = resolved.get(schema)
  if (before !== undefined) return before
  // A schema may be a part of itself: it ends here.
  resolved.set(schema, {})
  const { $ref, allOf, ...keywords } = schema
  const parts = [
    ...typeof $ref === 'string' ? [find(root, $ref)] : [], ...Array.isArray(allOf) ? allOf : []
  ]
  const plains = parts.map((part) => resolve(part, root))
  const [only] = plains
  // A reference alone is the schema that it names: a schema within itself is then found again.
  const isReference = only !== undefined && plains.length === 1 && Object.keys(keywords).length === 0
  const plain = isReference ? only : plains.reduceRight(join, keywords)
  resolved.set(schema, plain)
  return plain
}

/** Finds what a reference within the schema names: a JSON Pointer, an anchor, or the schema itself. */
function find (root: JsonObject, ref: string): unknown {
  if (ref === '#' || ref === root.$id) return root
  const fragment = ref.slice(ref.indexOf('#') + 1)
  if (!fragment.startsWith('/')) return findAnchor(root, fragment)
  const keys = fragment.slice(1).split('/').map(
    (key) => decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
  )
  return keys.reduce<unknown>((at, key) => {
    if (Array.isArray(at)) return at[Number(key)]
    return isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }, root)
}

function findAnchor (root: JsonObject, name: string): unknown {
  const definitions = [root.definitions, root.$defs].filter(isRecord).flatMap((map) => Object.values(map))
  return definitions.find(
    (definition) => isRecord(definition) && (definition.$anchor === name || definition.$id === name)
  )
}

/** Puts a part under a schema: the schema's own keywords win, and properties are joined. */
function join (schema: ResolvedSchema, part: ResolvedSchema): ResolvedSchema {
  const properties = Object.fromEntries([...propertiesOf(part), ...propertiesOf(schema)])
  const required = [...requiredOf(part), ...requiredOf(schema)]
  return {
    ...part,
    ...schema,
    ...Object.keys(properties).length > 0 && { properties },
    ...required.length > 0 && { required }
  }
}

export function requiredOf ({ required }: ResolvedSchema): readonly unknown[] {
  return Array.isArray(required) ? required : []
}

/** Returns the properties of an object's schema, in their order. */
export function propertiesOf ({ properties }: ResolvedSchema): ReadonlyArray<readonly [string, unknown]> {
  return isRecord(properties) ? Object.entries(properties) : []
}

/** Returns the names of the types that a schema allows. */
export function typesOf (schema: ResolvedSchema): readonly string[] {
  const types = [schema.type].flat().filter((type) => typeof type === 'string')
  if (types.length > 0) return types
  if (isRecord(schema.properties) || schema.additionalProperties !== undefined) return ['object']
  if (schema.items !== undefined || Array.isArray(schema.prefixItems)) return ['array']
  return []
}
