// Puts the questions of a handler to a person at a terminal.

import { toPlain } from '../base/words.ts'
import { isObject } from '../protocol/json-rpc.ts'
import type { JsonSchema } from '../protocol/primitives.ts'
import { createSchemaCompiler, SchemaError } from '../schema/json-schema.ts'
import type { TestAnswer, TestQuestion } from '../testing/test-question.ts'
import type { Terminal } from './command.ts'
import { readTyped, toPrompt } from './typed-field.ts'

const HOW_TO_REFUSE = 'To refuse, type !decline. To stop, type !cancel.'

/** Thrown where a person does not answer, and caught where the question is asked. */
class Refusal extends Error {
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
    if (typed === undefined || typed === '!cancel') throw new Refusal('cancel')
    if (typed === '!decline') throw new Refusal('decline')
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
      if (error instanceof Refusal) return { action: error.action }
      throw error
    }
  }
}

/** The problem of a value of one field. A schema that cannot be used here is left to the service. */
function createFieldCheck (name: string, field: JsonSchema): (value: unknown) => string | undefined {
  try {
    const check = createSchemaCompiler({ useDefaults: false }).compile({
      type: 'object', properties: { [name]: field }
    })
    return (value) => {
      const verdict = check({ [name]: value })
      return verdict.ok ? undefined : verdict.problems.join('; ')
    }
  } catch (error) {
    if (error instanceof SchemaError) return () => undefined
    throw error
  }
}
