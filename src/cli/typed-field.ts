// One field of a form at a terminal: its prompt, and the value of what is typed.

import { toPlain } from '../base/words.ts'
import { isObject } from '../protocol/json-rpc.ts'
import type { JsonSchema } from '../protocol/primitives.ts'

interface Choice { readonly value: unknown, readonly title: string }

/** `Size: how large it is (1 small, 2 large) [small] > ` */
export function toPrompt (name: string, field: JsonSchema, isRequired: boolean): string {
  const { title, description, type } = field
  const label = toPlain(typeof title === 'string' ? title : name)
  const about = typeof description === 'string' ? `: ${toPlain(description)}` : ''
  const choices = choicesOf(field).map((choice, index) => `${index + 1} ${choice.title}`).join(', ')
  const several = type === 'array' ? 'several, with commas between: ' : ''
  const form = choices !== '' ? `${several}${choices}` : type === 'boolean' ? 'yes or no' : toForm(field)
  const initial = 'default' in field ? ` [${toPlain(toShown(field.default))}]` : isRequired ? '' : ' [none]'
  return `${label}${about} (${form})${initial} > `
}

function toForm ({ type, format }: JsonSchema): string {
  return toPlain(String(format ?? (type === 'string' ? 'text' : type)))
}

function toShown (value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : String(value)
}

/** The value of a text. Any other text is returned as it is: the check of the form refuses it. */
export function readTyped (text: string, field: JsonSchema): unknown {
  const choices = choicesOf(field)
  const toChoice = (part: string) => (
    choices.find(({ value, title }) => value === part || title === part) ?? choices[Number(part) - 1]
  )?.value ?? part
  switch (field.type) {
    case 'boolean': return /^(?:y|yes|true)$/i.test(text) ? true : /^(?:n|no|false)$/i.test(text) ? false : text
    case 'number': case 'integer': return Number.isFinite(Number(text)) ? Number(text) : text
    case 'array': return text.split(',').map((part) => toChoice(part.trim())).filter((part) => part !== '')
    default: return toChoice(text)
  }
}

function choicesOf ({ enum: values, enumNames, oneOf, anyOf, items }: JsonSchema): Choice[] {
  if (isObject(items)) return choicesOf(items)
  if (Array.isArray(values)) {
    const names = Array.isArray(enumNames) ? enumNames : []
    return values.map((value, index) => ({ value, title: toPlain(String(names[index] ?? value)) }))
  }
  const options = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : []
  return options.filter(isObject).map(
    (option) => ({ value: option.const, title: toPlain(String(option.title ?? option.const)) })
  )
}
