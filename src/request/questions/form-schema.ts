// The schemas that a form may have: a flat object of a few kinds of field.
// https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema

import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { JsonSchema } from '../../platform/protocol/primitives.ts'
import type { Verdict } from '../../platform/schema/check.ts'
import type { JsonSchemaCheck } from '../../platform/schema/json-schema.ts'
import { checkOf } from '../../platform/schema/reader.ts'
import { Type, type Members } from '../../platform/schema/type.ts'

interface FieldKind {
  readonly keywords: readonly string[]
  readonly check: JsonSchemaCheck
}

const strict = { additionalProperties: false }
const count = Type.Optional(Type.Integer({ minimum: 0 }))
const bound = Type.Optional(Type.Number())
const options = Type.Array(Type.String(), { minItems: 1, uniqueItems: true })
const titledOptions = Type.Array(Type.Object({ const: Type.String(), title: Type.String() }, strict), {
  minItems: 1
})
const text = Type.Optional(Type.String())
const texts = Type.Optional(Type.Array(Type.String()))
const several = { type: Type.Literal('array'), default: texts, minItems: count, maxItems: count }

const KINDS = {
  text: toKind({
    type: Type.Literal('string'),
    default: text,
    minLength: count,
    maxLength: count,
    format: Type.Optional(Type.Enum(['email', 'uri', 'date', 'date-time']))
  }),
  number: toKind({ type: Type.Literal('number'), default: bound, minimum: bound, maximum: bound }),
  integer: toKind({
    type: Type.Literal('integer'), default: Type.Optional(Type.Integer()), minimum: bound, maximum: bound
  }),
  flag: toKind({ type: Type.Literal('boolean'), default: Type.Optional(Type.Boolean()) }),
  choice: toKind({ type: Type.Literal('string'), default: text, enum: options, enumNames: texts }),
  titledChoice: toKind({ type: Type.Literal('string'), default: text, oneOf: titledOptions }),
  choices: toKind({
    ...several, items: Type.Object({ type: Type.Literal('string'), enum: options }, strict)
  }),
  titledChoices: toKind({ ...several, items: Type.Object({ anyOf: titledOptions }, strict) })
}

const rootCheck = checkOf(Type.Object({
  type: Type.Literal('object'),
  properties: Type.Record(Type.Object({})),
  required: Type.Optional(Type.Array(Type.String(), { uniqueItems: true }))
}, strict))

function toKind (properties: Members): FieldKind {
  const members = { title: text, description: text, ...properties }
  return { keywords: Object.keys(members), check: checkOf(Type.Object(members, strict)) }
}

function fieldKindOf (field: JsonSchema): FieldKind | undefined {
  switch (field.type) {
    case 'string': return 'enum' in field ? KINDS.choice : 'oneOf' in field ? KINDS.titledChoice : KINDS.text
    case 'number': return KINDS.number
    case 'integer': return KINDS.integer
    case 'boolean': return KINDS.flag
    case 'array': return isObject(field.items) && 'anyOf' in field.items ? KINDS.titledChoices : KINDS.choices
    default: return undefined
  }
}

/**
 * Rewrites a schema with the keywords of forms, as far as possible.
 * @param isChecked whether the author's library checks the answers against its own schema. Keywords that a
 * form does not have are then dropped. Otherwise they are kept, and `findFormProblems` reports them.
 */
export function toFormSchema (schema: JsonSchema, isChecked: boolean): JsonSchema {
  const { $schema, additionalProperties, ...keywords } = schema
  const all = typeof additionalProperties === 'object' ? { ...keywords, additionalProperties } : keywords
  const members = isChecked ? pick(keywords, ['type', 'properties', 'required']) : all
  if (!isObject(members.properties)) return members
  const fields = Object.entries(members.properties).map(
    ([name, field]) => [name, isObject(field) ? toFormField(field, isChecked) : field]
  )
  return { ...members, properties: Object.fromEntries(fields) }
}

function toFormField (field: JsonSchema, isChecked: boolean): JsonSchema {
  const rewritten = toStringChoice(
    isObject(field.items) ? { ...field, items: toFormItems(field.items, isChecked) } : field
  )
  return isChecked ? pick(rewritten, fieldKindOf(rewritten)?.keywords ?? Object.keys(rewritten)) : rewritten
}

function toFormItems (items: JsonSchema, isChecked: boolean): JsonSchema {
  const rewritten = toStringChoice(items)
  return isChecked ? pick(rewritten, ['type', 'enum', 'anyOf']) : rewritten
}

/** Libraries write a choice of strings as `const`, or as `enum` without `type`. Forms need both members. */
function toStringChoice (field: JsonSchema): JsonSchema {
  const { const: only, ...keywords } = field
  if (typeof only === 'string') return { ...keywords, type: 'string', enum: [only] }
  const isChoice = Array.isArray(field.enum) && field.enum.every((option) => typeof option === 'string')
  return isChoice ? { type: 'string', ...field } : field
}

function pick (from: JsonSchema, keys: readonly string[]): JsonSchema {
  return Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)))
}

/** Returns every problem of the schema, each with its place. */
export function findFormProblems (schema: JsonSchema): string[] {
  const problems = [...problemsOf(rootCheck(schema))]
  if (problems.length > 0 || !isObject(schema.properties)) return problems
  const { properties, required } = schema
  for (const [name, field] of Object.entries(properties)) {
    if (isObject(field)) {
      problems.push(...findFieldProblems(field).map((problem) => `properties.${name}${problem}`))
    }
  }
  for (const name of Array.isArray(required) ? required : []) {
    if (!Object.hasOwn(properties, String(name))) {
      problems.push(`required: names ${JSON.stringify(name)}, which is not among the properties`)
    }
  }
  return problems
}

function findFieldProblems (field: JsonSchema): string[] {
  const kind = fieldKindOf(field)
  if (kind === undefined) {
    const type = JSON.stringify(field.type) ?? 'nothing'
    return [`.type: must be string, number, integer, boolean, or array for a choice of several, got ${type}`]
  }
  const problems = problemsOf(kind.check(field)).map((problem) => `.${problem}`)
  return problems.length > 0 ? problems : findContradictions(field)
}

const BOUNDS = [['minLength', 'maxLength'], ['minimum', 'maximum'], ['minItems', 'maxItems']] as const

function problemsOf (verdict: Verdict): readonly string[] {
  return verdict.ok ? [] : verdict.problems
}

/** Returns the problems that the schemas of KINDS cannot express: members that contradict each other. */
function findContradictions (field: JsonSchema): string[] {
  const problems: string[] = []
  const choices = optionsOf(field)
  if (choices !== undefined) {
    if (new Set(choices).size < choices.length) problems.push(': offers the same choice twice')
    if (Array.isArray(field.enumNames) && field.enumNames.length !== choices.length) {
      problems.push('.enumNames: must have as many names as enum has choices')
    }
    const defaults = 'default' in field ? [field.default].flat() : []
    for (const choice of defaults) {
      if (!choices.includes(choice)) {
        problems.push(`.default: ${JSON.stringify(choice)} is not one of the choices`)
      }
    }
  }
  for (const [least, greatest] of BOUNDS) {
    const [low, high] = [field[least], field[greatest]]
    if (typeof low === 'number' && typeof high === 'number' && low > high) {
      problems.push(`.${least}: must not be greater than ${greatest}`)
    }
  }
  return problems
}

function optionsOf ({ enum: choices, oneOf, items }: JsonSchema): unknown[] | undefined {
  if (isObject(items)) return optionsOf({ enum: items.enum, oneOf: items.anyOf })
  if (Array.isArray(choices)) return choices
  return Array.isArray(oneOf)
    ? oneOf.map((option: unknown) => isObject(option) ? option.const : undefined)
    : undefined
}
