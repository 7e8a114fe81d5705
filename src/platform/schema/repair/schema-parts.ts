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

/** Time is bounded like that of a check. */
export class SchemaParts {
  readonly #root: JsonSchema
  /** Whether a part has an `$id`, which changes what references in it refer to. */
  readonly #hasIds: boolean
  readonly #patterns = new Map<string, LinearPattern>()

  constructor (root: JsonSchema) {
    this.#root = root
    this.#hasIds = JSON.stringify({ ...root, $id: undefined }).includes('"$id":')
  }

  /** Whether the schema may accept a value of the type, which `typeOfJson` names. */
  takes (schema: unknown, type: string): boolean {
    return this.#ask(schema, (node) => mayBe(node, type), TAKEN)
  }

  /** Returns a schema that accepts whatever the schema accepts as the member or the item. */
  part (schema: unknown, key: string | number): unknown {
    const ofNode = (node: unknown) => typeof key === 'string' ? this.#memberOf(node, key) : itemOf(node, key)
    return this.#ask(schema, ofNode, JOINED)
  }

  /** Whether the schema names the member, and no branch of it requires the member. */
  isOptional (schema: unknown, name: string): boolean {
    const isNamed = (node: unknown) => (
      isObject(node) && isObject(node.properties) && Object.hasOwn(node.properties, name)
    )
    const isRequired = (node: unknown) => (
      isObject(node) && Array.isArray(node.required) && node.required.includes(name)
    )
    return this.#ask(schema, isNamed, NAMED) && !this.#ask(schema, isRequired, NAMED)
  }

  /** @param within the references that have led here: one that leads to itself says nothing. */
  #ask<T> (
    schema: unknown, ofNode: (node: unknown) => T, joins: Joins<T>, within: readonly string[] = []
  ): T {
    spend(1)
    if (!isObject(schema) || !BRANCHES.some((keyword) => keyword in schema)) return ofNode(schema)
    const ask = (node: unknown) => this.#ask(node, ofNode, joins, within)
    const { allOf, anyOf, oneOf, $ref } = schema
    const answers = [ofNode(schema)]
    if (Array.isArray(allOf)) answers.push(...allOf.map(ask))
    for (const branches of [anyOf, oneOf]) {
      if (Array.isArray(branches)) answers.push(joins.any(branches.map(ask)))
    }
    if ('if' in schema) answers.push(joins.any([ask(schema.then ?? true), ask(schema.else ?? true)]))
    if (typeof $ref === 'string' && !within.includes($ref)) {
      const target = this.#hasIds ? true : targetOf(this.#root, $ref) ?? true
      answers.push(this.#ask(target, ofNode, joins, [...within, $ref]))
    }
    return joins.all(answers)
  }

  #memberOf (node: unknown, name: string): unknown {
    if (!isObject(node)) return node
    if (!mayBe(node, 'object')) return false
    const { properties, patternProperties = {}, additionalProperties = true } = node
    if (isObject(properties) && Object.hasOwn(properties, name)) return properties[name]
    const sources = Object.keys(Object(patternProperties)).filter((source) => this.#matches(source, name))
    const schemas = sources.map((source) => Reflect.get(Object(patternProperties), source))
    return schemas.length === 0 ? additionalProperties : JOINED.all(schemas)
  }

  #matches (source: string, name: string): boolean {
    spend(costOfText(name.length))
    const pattern = this.#patterns.get(source) ?? createLinearPattern(source)
    this.#patterns.set(source, pattern)
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
