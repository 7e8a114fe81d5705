// Puts the questions of a handler to a person at a terminal.

import { toPlain } from '../../base/words.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { JsonSchema } from '../../platform/protocol/primitives.ts'
import { createSchemaCompiler, SchemaError } from '../../platform/schema/json-schema.ts'
import type { TestAnswer, TestQuestion } from '../testing/question.ts'
import type { Terminal } from './command.ts'

const HOW_TO_REFUSE = 'To refuse, type !decline. To stop, type !cancel.'

/** Thrown where a person does not answer, and caught where the question is asked. */
class AnswerRefused extends Error {
  readonly action: 'decline' | 'cancel'

  constructor (action: 'decline' | 'cancel') {
    super(action)
    this.action = action
  }
}

/** @param say prints a line. */
export function createPerson (
  { ask }: Terminal, say: (line: string) => void
): (question: TestQuestion) => Promise<TestAnswer> {
  async function type (prompt: string): Promise<string> {
    const typed = (await ask(prompt))?.trim()
    if (typed === undefined || typed === '!cancel') throw new AnswerRefused('cancel')
    if (typed === '!decline') throw new AnswerRefused('decline')
    return typed
  }

  async function askForm (schema: JsonSchema): Promise<TestAnswer> {
    const properties = isObject(schema.properties) ? schema.properties : {}
    const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : []
    const content: { [field: string]: unknown } = {}
    for (const [name, field] of Object.entries(properties)) {
      if (!isObject(field)) continue
      const value = await askField(name, field, required.includes(name))
      if (value !== undefined) content[name] = value
    }
    return { action: 'accept', content }
  }

  /** Asks until the value fits. An empty line stands for the default, or for no value. */
  async function askField (name: string, field: JsonSchema, isRequired: boolean): Promise<unknown> {
    const findProblem = createFieldCheck(name, field)
    for (;;) {
      const typed = await type(toPrompt(name, field, isRequired))
      if (typed === '' && 'default' in field) return field.default
      if (typed === '' && !isRequired) return undefined
      const value = readTyped(typed, field)
      const problem = typed === '' ? 'an answer is required' : findProblem(value)
      if (problem === undefined) return value
      say(`  ${toPlain(problem)}`)
    }
  }

  return async ({ key, kind, message, params }) => {
    say(`The tool asks ${JSON.stringify(key)}: ${toPlain(message)}\n${HOW_TO_REFUSE}`)
    try {
      const { requestedSchema: schema, url } = params
      if (kind === 'form') return await askForm(isObject(schema) ? schema : {})
      say(`  ${toPlain(String(url))}`)
      await type('Open this address, then press enter > ')
      return { action: 'accept' }
    } catch (error) {
      if (error instanceof AnswerRefused) return { action: error.action }
      throw error
    }
  }
}

/** The problem of a value of one field. A schema that cannot be used here is left to the service. */
function createFieldCheck (name: string, field: JsonSchema): (value: unknown) => string | undefined {
  const check = createFormCheck({ type: 'object', properties: { [name]: field } })
  return (value) => {
    const problems = check({ [name]: value })
    return problems.length === 0 ? undefined : problems.join('; ')
  }
}

/** Returns what is wrong with the content of a form. */
export function findAnswerProblems (schema: JsonSchema, content: object): readonly string[] {
  return createFormCheck(schema)(content)
}

function createFormCheck (schema: JsonSchema): (content: object) => readonly string[] {
  try {
    const check = createSchemaCompiler({ useDefaults: false }).compile(schema)
    return (content) => {
      const verdict = check(content)
      return verdict.ok ? [] : verdict.problems
    }
  } catch (error) {
    if (error instanceof SchemaError) return () => []
    throw error
  }
}

interface Choice { readonly value: unknown, readonly title: string }

/** `Size: how large it is (1 small, 2 large) [small] > ` */
function toPrompt (name: string, field: JsonSchema, isRequired: boolean): string {
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
function readTyped (text: string, field: JsonSchema): unknown {
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
