// Lists an input schema with a choice at its top as one object. The choice is in words, for hosts and models
// that cannot follow it.

import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { JsonSchema } from '../../platform/protocol/primitives.ts'
import { valuesOf } from '../../platform/schema/subschemas.ts'

const CHOICES = { oneOf: 'exactly one', anyOf: 'at least one' } as const

/** An object, without choices at its top. */
interface FlatObject {
  readonly title: unknown
  readonly properties: Map<string, unknown>
  readonly required: Set<string>
  readonly sentences: string[]
}

/**
 * Returns the schema as JSON, and in words which arguments go together. A schema that refers to another one
 * at its top stays as it is, without words. What else branches say is left out.
 */
export function flattenUnion (json: string): { readonly json: string, readonly words: string } {
  const schema: JsonSchema = JSON.parse(json)
  // What is left out of branches may be what this keyword would have let pass.
  const { oneOf, anyOf, allOf, unevaluatedProperties, ...keywords } = schema
  const branches = allBranchesOf(schema)
  if (branches.length === 0 || branches.some(hasReference)) return { json, words: '' }
  const { properties, required, sentences } = flatten(schema)
  const names = isObject(schema.properties) && schema.additionalProperties === false
    // Arguments that only a branch has cannot be sent.
    ? Object.keys(schema.properties)
    : [...properties.keys()]
  const flat = {
    ...keywords,
    properties: Object.fromEntries(names.map((name) => [name, properties.get(name)])),
    ...(required.size > 0 && { required: [...required] })
  }
  return { json: JSON.stringify(flat), words: sentences.join(' ') }
}

function flatten (schema: JsonSchema): FlatObject {
  const properties = new Map(Object.entries(isObject(schema.properties) ? schema.properties : {}))
  const required = new Set<string>(Array.isArray(schema.required) ? schema.required : [])
  const sentences: string[] = []
  for (const part of branchesOf(schema, 'allOf').map(flatten)) {
    for (const [name, property] of part.properties) {
      properties.set(name, properties.has(name) ? addSchema(properties.get(name), property) : property)
    }
    for (const name of part.required) required.add(name)
    sentences.push(...part.sentences)
  }
  for (const [keyword, count] of Object.entries(CHOICES)) {
    const flats = branchesOf(schema, keyword).map(flatten)
    if (flats.length === 0) continue
    sentences.push(`Give the arguments of ${count} of these: ${flats.map(describeBranch).join('; ')}.`)
    for (const name of new Set(flats.flatMap((flat) => [...flat.properties.keys()]))) {
      const variants = flats.flatMap((flat) => flat.properties.get(name) ?? [])
      properties.set(name, joinVariants(variants, properties.get(name), variants.length === flats.length))
    }
    for (const name of flats[0]?.required ?? []) {
      if (flats.every((flat) => flat.required.has(name))) required.add(name)
    }
  }
  return { title: schema.title, properties, required, sentences }
}

/** Returns the branches that accept anything. `true` accepts everything, without a word of arguments. */
function branchesOf (schema: JsonSchema, keyword: string): JsonSchema[] {
  const branches = schema[keyword]
  if (!Array.isArray(branches)) return []
  return branches.map((branch) => branch === true ? {} : branch).filter(isObject)
}

function allBranchesOf (schema: JsonSchema): JsonSchema[] {
  return ['oneOf', 'anyOf', 'allOf'].flatMap((keyword) => branchesOf(schema, keyword))
}

/** Whether the schema, or a branch of it, refers to another one. */
function hasReference (schema: JsonSchema): boolean {
  return '$ref' in schema || allBranchesOf(schema).some(hasReference)
}

/** The keywords of the first schema stay at the top: a header may mirror its value. */
function addSchema (common: unknown, schema: unknown): unknown {
  if (!isObject(common)) return { allOf: [common, schema] }
  return { ...common, allOf: [...Array.isArray(common.allOf) ? common.allOf : [], schema] }
}

/**
 * @param common what the schema says of the property in every branch.
 * @param isInAll whether each branch names the property. Otherwise a branch may take any value of it.
 */
function joinVariants (variants: readonly unknown[], common: unknown, isInAll: boolean): unknown {
  const distinct = [...new Map(variants.map((variant) => [JSON.stringify(variant), variant])).values()]
  const [type, ...types] = new Set(distinct.map((variant) => isObject(variant) ? variant.type : undefined))
  const typed = types.length === 0 && type !== undefined ? { type } : {}
  if (!isInAll) return common ?? typed
  const values = distinct.map(valuesOf)
  return distinct.length > 1 && !values.includes(undefined)
    ? { ...(isObject(common) ? common : typed), enum: [...new Set(values.flat())] }
    : common ?? (distinct.length === 1 ? distinct[0] : { anyOf: distinct })
}

/** Names the arguments of a branch: `kind "file", path, optionally depth`. */
function describeBranch ({ title, properties, required }: FlatObject): string {
  const describe = (name: string) => {
    const property = properties.get(name)
    return isObject(property) && 'const' in property ? `${name} ${JSON.stringify(property.const)}` : name
  }
  const optional = [...properties.keys()].filter((name) => !required.has(name)).map(describe)
  const options = optional.length === 0 ? [] : [`optionally ${optional.join(', ')}`]
  const names = [...[...required].map(describe), ...options].join(', ') || 'nothing more'
  return typeof title === 'string' ? `${title} (${names})` : names
}
