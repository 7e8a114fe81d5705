// JSON Schema 2020-12 as its specification words it, for a few keywords, slowly. Compiled checks must agree.

import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../../src/platform/protocol/json-rpc.ts'

type Schema = boolean | { readonly [keyword: string]: unknown }

/** Whether a schema accepts a value, and the items and members that it has evaluated. */
interface Evaluation { isValid: boolean, readonly parts: Set<string> }

const TYPES: { readonly [type: string]: (value: unknown) => boolean } = {
  array: Array.isArray,
  object: isObject,
  number: (value) => typeof value === 'number',
  string: (value) => typeof value === 'string'
}

export function evaluate (schema: Schema, value: unknown, root: Schema = schema): Evaluation {
  const parts = new Set<string>()
  if (typeof schema === 'boolean') return { isValid: schema, parts }
  const here = schema
  const isTrue = (subschema: unknown, part: unknown) => evaluate(toSchema(subschema), part, root).isValid
  const conditions = [ofScalars(), ofSubschemas(), ofItems(), ofMembers(), ofTheRest()]
  return { isValid: conditions.every(Boolean), parts }

  function ofScalars (): boolean {
    return (here.type === undefined || TYPES[String(here.type)]?.(value) === true) &&
      (here.const === undefined || isDeepStrictEqual(value, here.const)) &&
      (typeof value !== 'number' || here.minimum === undefined || value >= Number(here.minimum))
  }

  /** Evaluates a subschema of the same value. Its parts count if it accepts the value. */
  function accepts (subschema: unknown): boolean {
    const evaluation = evaluate(toSchema(subschema), value, root)
    if (evaluation.isValid) for (const part of evaluation.parts) parts.add(part)
    return evaluation.isValid
  }

  function ofSubschemas (): boolean {
    const results = [
      ...listOf(here.allOf).map(accepts),
      here.anyOf === undefined || listOf(here.anyOf).map(accepts).includes(true),
      here.oneOf === undefined || listOf(here.oneOf).map(accepts).filter(Boolean).length === 1,
      here.not === undefined || !isTrue(here.not, value),
      here.$ref === undefined || accepts(definitionOf(String(here.$ref))),
      here.if === undefined || (accepts(here.if) ? accepts(here.then ?? true) : accepts(here.else ?? true))
    ]
    return results.every(Boolean)
  }

  function definitionOf (reference: string): unknown {
    return Object(Object(root).$defs)[reference.slice('#/$defs/'.length)]
  }

  function ofItems (): boolean {
    if (!Array.isArray(value)) return true
    const prefix = listOf(here.prefixItems)
    const { items, contains, minContains = 1, maxContains = Infinity } = here
    const results = value.map((item, index) => {
      const subschema = index < prefix.length ? prefix[index] : items
      if (subschema === undefined) return true
      parts.add(String(index))
      return isTrue(subschema, item)
    })
    if (contains !== undefined) {
      const matches = value.flatMap((item, index) => isTrue(contains, item) ? [index] : [])
      for (const index of matches) parts.add(String(index))
      results.push(matches.length >= Number(minContains) && matches.length <= Number(maxContains))
    }
    return results.every(Boolean)
  }

  function ofMembers (): boolean {
    if (!isObject(value)) return true
    const members = Object.entries(value)
    const { properties = {}, additionalProperties, required } = here
    const results = members.map(([name, member]) => {
      const isNamed = Object.hasOwn(Object(properties), name)
      const subschema = isNamed ? Object(properties)[name] : additionalProperties
      if (subschema === undefined) return true
      parts.add(name)
      return isTrue(subschema, member)
    })
    return results.every(Boolean) && listOf(required).every((name) => Object.hasOwn(value, String(name)))
  }

  function ofTheRest (): boolean {
    if (typeof value !== 'object' || value === null) return true
    const rest = Array.isArray(value) ? here.unevaluatedItems : here.unevaluatedProperties
    if (rest === undefined) return true
    const unevaluated = Object.entries(value).filter(([name]) => !parts.has(name))
    for (const [name] of unevaluated) parts.add(name)
    return unevaluated.every(([, member]) => isTrue(rest, member))
  }
}

const listOf = (value: unknown): readonly unknown[] => Array.isArray(value) ? value : []

function toSchema (value: unknown): Schema {
  if (typeof value === 'boolean' || isObject(value)) return value
  throw new TypeError(`not a schema: ${JSON.stringify(value)}`)
}
