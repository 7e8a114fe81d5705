// What a JSON Schema says of a value and its parts. Where that is not easy to tell, it accepts everything.

import { isObject } from '../../protocol/json-rpc.ts'
import type { JsonSchema } from '../../protocol/primitives.ts'
import { costOfText, spend } from '../check-cost.ts'
import { createLinearPattern, type LinearPattern } from '../linear-pattern.ts'
import { targetOf, valuesOf } from '../subschemas.ts'

/** Joins the answers of schemas: of those that all hold, and of those of which one holds. */
interface Joins<T> { all (answers: readonly T[]): T, any (answers: readonly T[]): T }

const hasYes = (answers: readonly boolean[]) => answers.includes(true)
const TAKEN: Joins<boolean> = { all: (answers) => !answers.includes(false), any: hasYes }
const NAMED: Joins<boolean> = { all: hasYes, any: hasYes }
const JOINED: Joins<unknown> = {
  all: (schemas) => join('allOf', schemas, true, false), any: (schemas) => join('anyOf', schemas, false, true)
}

const BRANCHES = ['allOf', 'anyOf', 'oneOf', 'if', '$ref']

export type SchemaParts = ReturnType<typeof createSchemaParts>

/** Time is bounded like that of a check. */
export function createSchemaParts (root: JsonSchema) {
  /** Whether a part has an `$id`, which changes what references in it refer to. */
  const hasIds = JSON.stringify({ ...root, $id: undefined }).includes('"$id":')
  const patterns = new Map<string, LinearPattern>()
  return {
    /** Whether the schema may accept a value of the type, which `typeOfJson` names. */
    takes: (schema: unknown, type: string) => ask(schema, (node) => mayBe(node, type), TAKEN),
    /** Returns a schema that accepts whatever the schema accepts as the member or the item. */
    part (schema: unknown, key: string | number) {
      return ask(schema, (node) => typeof key === 'string' ? memberOf(node, key) : itemOf(node, key), JOINED)
    },
    /** Whether the schema names the member, and no branch of it requires the member. */
    isOptional (schema: unknown, name: string) {
      const isNamed = (node: unknown) => (
        isObject(node) && isObject(node.properties) && Object.hasOwn(node.properties, name)
      )
      const isRequired = (node: unknown) => (
        isObject(node) && Array.isArray(node.required) && node.required.includes(name)
      )
      return ask(schema, isNamed, NAMED) && !ask(schema, isRequired, NAMED)
    }
  }

  /** @param within the references that have led here: one that leads to itself says nothing. */
  function ask<T> (
    schema: unknown, ofNode: (node: unknown) => T, joins: Joins<T>, within: readonly string[] = []
  ): T {
    spend(1)
    if (!isObject(schema) || !BRANCHES.some((keyword) => keyword in schema)) return ofNode(schema)
    const askOf = (node: unknown) => ask(node, ofNode, joins, within)
    const { allOf, anyOf, oneOf, $ref } = schema
    const answers = [ofNode(schema)]
    if (Array.isArray(allOf)) answers.push(...allOf.map(askOf))
    for (const branches of [anyOf, oneOf]) {
      if (Array.isArray(branches)) answers.push(joins.any(branches.map(askOf)))
    }
    if ('if' in schema) answers.push(joins.any([askOf(schema.then ?? true), askOf(schema.else ?? true)]))
    if (typeof $ref === 'string' && !within.includes($ref)) {
      const target = hasIds ? true : targetOf(root, $ref) ?? true
      answers.push(ask(target, ofNode, joins, [...within, $ref]))
    }
    return joins.all(answers)
  }

  function memberOf (node: unknown, name: string): unknown {
    if (!isObject(node)) return node
    if (!mayBe(node, 'object')) return false
    const { properties, patternProperties = {}, additionalProperties = true } = node
    if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name]
    const schemas = Object.entries(Object(patternProperties)).filter(([source]) => matches(source, name))
      .map(([, schema]) => schema)
    return schemas.length === 0 ? additionalProperties : JOINED.all(schemas)
  }

  function matches (source: string, name: string): boolean {
    spend(costOfText(name.length))
    const pattern = patterns.get(source) ?? createLinearPattern(source)
    patterns.set(source, pattern)
    return pattern.test(name)
  }
}

export function typeOfJson (value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

/** Whether the keywords of the schema itself may accept a value of the type. */
function mayBe (node: unknown, type: string): boolean {
  if (!isObject(node)) return node !== false
  const types: readonly unknown[] = [node.type ?? type, node.nullable === true ? 'null' : []].flat()
  if (!types.includes(type) && !(type === 'number' && types.includes('integer'))) return false
  const values = valuesOf(node)
  if (values === undefined) return true
  spend(values.length / 10)
  return values.some((value) => typeOfJson(value) === type)
}

function itemOf (node: unknown, index: number): unknown {
  if (!isObject(node)) return node
  if (!mayBe(node, 'array')) return false
  const { prefixItems = [], items = true, additionalItems = true } = node
  // A tuple of draft-07 is in `items`.
  const [tuple, otherItems] = Array.isArray(items) ? [items, additionalItems] : [prefixItems, items]
  return Array.isArray(tuple) && index < tuple.length ? tuple[index] : otherItems
}

/**
 * @param neutral a schema that does not change what the others accept together.
 * @param decisive a schema that decides alone.
 */
function join (
  keyword: 'allOf' | 'anyOf', schemas: readonly unknown[], neutral: boolean, decisive: boolean
): unknown {
  if (schemas.includes(decisive)) return decisive
  const parts = new Set(schemas.filter((schema) => schema !== neutral))
  return parts.size > 1 ? { [keyword]: [...parts] } : [...parts, neutral][0]
}
