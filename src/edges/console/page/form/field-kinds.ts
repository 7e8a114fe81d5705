// Which control a schema gets, and the value that the control begins with.

import { isRecord, type JsonObject } from '../connection/json.ts'
import { propertiesOf, requiredOf, resolve, typesOf, type ResolvedSchema } from './schema.ts'

export interface FieldChoice {
  readonly label: string
  readonly value: unknown
  readonly description?: string
}

export interface Variant { readonly label: string, readonly schema: ResolvedSchema }

export type ControlKind =
  | { readonly kind: 'constant', readonly value: unknown }
  | { readonly kind: 'choice', readonly choices: readonly FieldChoice[] }
  | { readonly kind: 'choices', readonly choices: readonly FieldChoice[] }
  | { readonly kind: 'variants', readonly variants: readonly Variant[] }
  | { readonly kind: 'text' | 'number' | 'boolean' | 'object' | 'map' | 'list' | 'tuple' | 'json' }

export interface FieldPlan {
  readonly field: ControlKind
  /** Whether null is a value beside those of the field. */
  readonly isNullable: boolean
  /** The schema of the values that are not null. */
  readonly schema: ResolvedSchema
}

/** A schema is planned once. */
const plans = new WeakMap<object, FieldPlan>()

export function planField (schema: ResolvedSchema, root: JsonObject): FieldPlan {
  const before = plans.get(schema)
  if (before !== undefined) return before
  // A schema may be its own item: it ends here.
  plans.set(schema, { field: { kind: 'json' }, isNullable: false, schema })
  const plan = makePlan(schema, root)
  plans.set(schema, plan)
  return plan
}

function makePlan (schema: ResolvedSchema, root: JsonObject): FieldPlan {
  const branches = Array.isArray(schema.oneOf) ? schema.oneOf : schema.anyOf
  if ('const' in schema) return toConstantPlan(schema, schema.const)
  if (Array.isArray(schema.enum)) return planChoice(schema.enum, schema)
  if (Array.isArray(branches)) return planBranches(schema, branches.map((part) => resolve(part, root)), root)
  const types = typesOf(schema).filter((type) => type !== 'null')
  const isNullable = types.length < typesOf(schema).length || schema.nullable === true
  if (types.length > 1) {
    const variants = types.map((type) => ({ label: type, schema: { ...schema, type } }))
    return { field: { kind: 'variants', variants }, isNullable, schema }
  }
  if (types.length === 0 && isNullable) return toConstantPlan(schema, null)
  return { field: planType(types[0], schema, root), isNullable, schema }
}

function toConstantPlan (schema: ResolvedSchema, value: unknown): FieldPlan {
  return { field: { kind: 'constant', value }, isNullable: false, schema }
}

function planChoice (values: readonly unknown[], schema: ResolvedSchema): FieldPlan {
  const names: readonly unknown[] = Array.isArray(schema.enumNames) ? schema.enumNames : []
  const choices = values.filter((value) => value !== null).map(
    (value, index) => ({ label: String(names[index] ?? toLabel(value)), value })
  )
  return { field: { kind: 'choice', choices }, isNullable: choices.length < values.length, schema }
}

function planBranches (
  schema: ResolvedSchema, branches: readonly ResolvedSchema[], root: JsonObject
): FieldPlan {
  const nonNull = branches.filter((branch) => branch.type !== 'null' && branch.const !== null)
  const isNullable = nonNull.length < branches.length
  const [only] = nonNull
  const { oneOf, anyOf, ...common } = schema
  if (nonNull.length === 1 && only !== undefined) {
    const { default: first, ...keywords } = common
    const plan = planField(mix(keywords, only), root)
    return { ...plan, isNullable: isNullable || plan.isNullable }
  }
  if (nonNull.every((branch) => 'const' in branch)) {
    const choices = nonNull.map(({ const: value, title, description }) => ({
      label: String(title ?? toLabel(value)),
      value,
      ...typeof description === 'string' && { description }
    }))
    return { field: { kind: 'choice', choices }, isNullable, schema }
  }
  const variants = nonNull.map((part, index) => ({ label: labelOf(part, index), schema: mix(common, part) }))
  return { field: { kind: 'variants', variants }, isNullable, schema }
}

/** A branch has the keywords beside it too. What tells of the whole field stays with the field. */
function mix (schema: ResolvedSchema, branch: ResolvedSchema): ResolvedSchema {
  const { title, description, default: first, ...common } = schema
  if (Object.keys(common).length === 0) return branch
  const properties = Object.fromEntries([...propertiesOf(common), ...propertiesOf(branch)])
  return {
    ...common,
    ...branch,
    ...Object.keys(properties).length > 0 && { properties },
    required: [...requiredOf(common), ...requiredOf(branch)]
  }
}

function labelOf (schema: ResolvedSchema, index: number): string {
  if (typeof schema.title === 'string') return schema.title
  const constants = propertiesOf(schema).flatMap(
    ([name, member]) => isRecord(member) && 'const' in member ? [`${name}: ${toLabel(member.const)}`] : []
  )
  if (constants.length > 0) return constants.join(', ')
  const names = propertiesOf(schema).map(([name]) => name)
  if (names.length > 0) return names.slice(0, 3).join(', ')
  return typesOf(schema)[0] ?? `variant ${index + 1}`
}

function toLabel (value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function planType (type: string | undefined, schema: ResolvedSchema, root: JsonObject): ControlKind {
  switch (type) {
    case 'string': return { kind: 'text' }
    case 'number':
    case 'integer': return { kind: 'number' }
    case 'boolean': return { kind: 'boolean' }
    case 'array': return planArray(schema, root)
    case 'object': return planObject(schema)
    default: return { kind: 'json' }
  }
}

function planArray (schema: ResolvedSchema, root: JsonObject): ControlKind {
  if (Array.isArray(schema.prefixItems)) return { kind: 'tuple' }
  if (!isRecord(schema.items)) return { kind: 'json' }
  const { field } = planField(resolve(schema.items, root), root)
  return field.kind === 'choice' && (schema.uniqueItems === true || field.choices.length <= 12)
    ? { kind: 'choices', choices: field.choices }
    : { kind: 'list' }
}

function planObject (schema: ResolvedSchema): ControlKind {
  if (propertiesOf(schema).length > 0) return { kind: 'object' }
  if (isRecord(schema.additionalProperties)) return { kind: 'map' }
  return { kind: schema.additionalProperties === false ? 'object' : 'json' }
}

const MAX_DEPTH = 8
const MAX_FIRST_ITEMS = 5
const MAX_FIRST_VALUES = 200

/** The way from the first schema to the present one. */
interface Walk {
  readonly path: readonly ResolvedSchema[]
  /** Counts the values below the members of the first schema. All steps of a walk share it. */
  readonly budget: { left: number }
}

/**
 * Returns the value that a field begins with. `undefined` for a field that is not sent, and where a schema is
 * a part of itself: the person adds the parts that are needed.
 */
export function toFirstValue (
  schema: ResolvedSchema, root: JsonObject, isRequired: boolean, walk?: Walk
): unknown {
  if ('default' in schema) return schema.default
  const { path, budget } = walk ?? { path: [], budget: { left: MAX_FIRST_VALUES } }
  if (!isRequired || path.length > MAX_DEPTH || path.includes(schema)) return undefined
  if (path.length > 1 && --budget.left < 0) return undefined
  const next = { path: [...path, schema], budget }
  const { field, schema: plain } = planField(schema, root)
  switch (field.kind) {
    case 'constant': return field.value
    case 'boolean': return false
    case 'choices': return []
    case 'map': return {}
    case 'list': {
      const count = Math.min(typeof plain.minItems === 'number' ? plain.minItems : 0, MAX_FIRST_ITEMS)
      return Array.from({ length: count }, () => toItemValue(resolve(plain.items, root), root, next))
    }
    case 'object': return Object.fromEntries(propertiesOf(plain).flatMap(([name, member]) => {
      const isMemberRequired = requiredOf(plain).includes(name)
      const value = toFirstValue(resolve(member, root), root, isMemberRequired, next)
      return value === undefined ? [] : [[name, value]]
    }))
    case 'variants': {
      const [first] = field.variants
      return first && toFirstValue(first.schema, root, true, next)
    }
    default: return undefined
  }
}

/** Returns the value of a new item: a list has no item without a value. */
export function toItemValue (schema: ResolvedSchema, root: JsonObject, walk?: Walk): unknown {
  const value = toFirstValue(schema, root, true, walk)
  if (value !== undefined) return value
  const { field } = planField(schema, root)
  switch (field.kind) {
    case 'text': return ''
    case 'number': return typeof schema.minimum === 'number' ? schema.minimum : 0
    case 'choice': return field.choices[0]?.value ?? null
    default: return null
  }
}

/** Whether a value looks like one of the schema: its type, its constants and its required members. */
export function looksLike (value: unknown, schema: ResolvedSchema, root: JsonObject): boolean {
  const types = typesOf(schema)
  if ('const' in schema) return isSame(value, schema.const)
  if (Array.isArray(schema.enum) && !schema.enum.some((option) => isSame(value, option))) return false
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) return false
  if (!isRecord(value)) return true
  return requiredOf(schema).every((name) => typeof name === 'string' && name in value) &&
    propertiesOf(schema).every(([name, member]) => {
      const plain = resolve(member, root)
      return !(name in value) || !('const' in plain) || isSame(value[name], plain.const)
    })
}

export function isSame (left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right)
}

export function isOfType (value: unknown, type: string): boolean {
  switch (type) {
    case 'null': return value === null
    case 'array': return Array.isArray(value)
    case 'object': return isRecord(value)
    case 'integer': return Number.isInteger(value)
    case 'number': return typeof value === 'number'
    case 'boolean': return typeof value === 'boolean'
    default: return typeof value === 'string'
  }
}
