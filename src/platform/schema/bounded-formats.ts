// Formats of texts, matched in time linear in the text. The texts are a client's.

import type { Format, FormatDefinition } from 'ajv'
import { spend } from './check-cost.ts'

type FormatTest = (text: string) => boolean

/** Characters of a text that a format reads in one step. */
const CHARACTERS = 40
/** Compiling a pattern takes longer. */
const PATTERN_CHARACTERS = 3

/** RFC 5321: 64 octets, an @, and 255. */
const MAX_EMAIL_LENGTH = 320

const TWO_PARTS = /^[^t\s]*[t\s][^t\s]*$/i

/** Conditions that a valid text meets. Without them, the format of ajv-formats reads a text many times. */
const CONDITIONS: { readonly [name: string]: FormatTest } = {
  email: (text) => text.length <= MAX_EMAIL_LENGTH,
  'date-time': (text) => TWO_PARTS.test(text),
  'iso-date-time': (text) => TWO_PARTS.test(text),
  url: (text) => !/\s/.test(text)
}

/** The user in a URL, as ajv-formats has it, and a pattern of the same texts that has one way to match. */
const [USER, LINEAR_USER] = [String.raw`(?:\S+(?::\S*)?@)?`, String.raw`(?:\S+@)?`]

/** Returns the format with a bound: it takes steps from the budget of the check. */
export function boundFormat (name: string, format: Format): Format {
  const { validate, ...definition } = isDefinition(format) ? format : { validate: format }
  const test = toTest(validate)
  if (test === undefined) return format
  const meetsCondition = CONDITIONS[name] ?? (() => true)
  const characters = name === 'regex' ? PATTERN_CHARACTERS : CHARACTERS
  return {
    ...definition,
    validate (text: string) {
      spend(0.1 + text.length / characters)
      return meetsCondition(text) && test(text)
    }
  }
}

function isDefinition (format: Format): format is FormatDefinition<string> {
  return typeof format === 'object' && 'validate' in format && format.type !== 'number'
}

function toTest (validate: unknown): FormatTest | undefined {
  if (validate instanceof RegExp) {
    const { source, flags } = validate
    const pattern = source.includes(USER) ? new RegExp(source.replace(USER, LINEAR_USER), flags) : validate
    return (text) => pattern.test(text)
  }
  if (typeof validate !== 'function') return undefined
  return (text) => Reflect.apply(validate, undefined, [text]) === true
}
