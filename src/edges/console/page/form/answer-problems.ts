// What is wrong with the answer to a question, before it is sent: a question is a flat form.
// https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema

import { createContext } from 'preact'
import { isRecord, type JsonObject } from '../connection/json.ts'
import { isOfType, isSame, planField } from './field-kinds.ts'
import { propertiesOf, requiredOf, resolve, typesOf, type ResolvedSchema } from './schema.ts'

/** What is wrong with the value of a field, by the id of the field. */
export const FieldProblems = createContext<{ readonly [id: string]: string }>({})

/** @param id of the form, which begins the id of each field. */
export function findFieldProblems (
  id: string, schema: JsonObject, value: unknown
): { readonly [id: string]: string } {
  const plain = resolve(schema, schema)
  const answers = isRecord(value) ? value : {}
  return Object.fromEntries(propertiesOf(plain).flatMap(([name, member]) => {
    const isRequired = requiredOf(plain).includes(name)
    const problem = findProblem(resolve(member, schema), schema, answers[name], isRequired)
    return problem === undefined ? [] : [[`${id}.${name}`, problem]]
  }))
}

/** Says it as the terminal does. */
function findProblem (
  schema: ResolvedSchema, root: JsonObject, value: unknown, isRequired: boolean
): string | undefined {
  if (value === undefined || value === '') return isRequired ? 'an answer is required' : undefined
  const types = typesOf(schema)
  if (types.length > 0 && !types.some((type) => isOfType(value, type))) {
    return `must be ${types.join(' or ')}`
  }
  const { field } = planField(schema, root)
  if (field.kind === 'choice' && !field.choices.some((choice) => isSame(choice.value, value))) {
    return `must be one of ${JSON.stringify(field.choices.map((choice) => choice.value))}`
  }
  return findLimitProblem(schema, value) ?? findFormatProblem(schema, value)
}

function findLimitProblem (schema: ResolvedSchema, value: unknown): string | undefined {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema
  if (typeof value === 'number') return describeRange(value, minimum, maximum)
  if (typeof value === 'string') return describeLength([...value].length, minLength, maxLength, 'characters')
  return Array.isArray(value) ? describeLength(value.length, minItems, maxItems, 'items') : undefined
}

function describeRange (value: number, min: unknown, max: unknown): string | undefined {
  if (typeof min === 'number' && value < min) return `must be >= ${min}`
  return typeof max === 'number' && value > max ? `must be <= ${max}` : undefined
}

function describeLength (length: number, min: unknown, max: unknown, unit: string): string | undefined {
  if (typeof min === 'number' && length < min) return `must NOT have fewer than ${min} ${unit}`
  return typeof max === 'number' && length > max ? `must NOT have more than ${max} ${unit}` : undefined
}

const FORMATS: { readonly [format: string]: (text: string) => boolean } = {
  email: (text) => /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(text),
  uri: (text) => !/\s/.test(text) && URL.canParse(text),
  date: (text) => isDay(text),
  'date-time': (text) => isDay(text.slice(0, 10)) &&
    /^.{10}[Tt ]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:?\d\d)$/.test(text)
}

function isDay (text: string): boolean {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN
  // `Date` reads 31 April as 1 May.
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)
}

function findFormatProblem ({ format }: ResolvedSchema, value: unknown): string | undefined {
  const isFormat = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
  return typeof value !== 'string' || isFormat === undefined || isFormat(value)
    ? undefined
    : `must match format "${String(format)}"`
}
