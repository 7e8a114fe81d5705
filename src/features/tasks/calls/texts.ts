// What a model is told of a call that goes on, or that asks a question. Each text names the tool to call next
// and its arguments. Agents stop a model that repeats a call to the letter: each text gives the call another
// number.

import { CONTINUE_TOOL, readCall } from '../../../catalog/compiled/definitions/continue-tool.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'

const MAX_COUNT = 999_999_999

function nextCall (call: string): string {
  const { taskId, count } = readCall(call)
  return `${taskId}.${count % MAX_COUNT + 1}`
}

/** A question of a call, by the name that its answer has. */
export interface CallQuestion {
  readonly name: string
  /** The params of the input request. */
  readonly params: { readonly [key: string]: unknown }
  /** How the user can get it: a form that the model may pass on, a link, or not through this client. */
  readonly way: 'form' | 'link' | 'none'
}

/**
 * @param message the latest progress.
 * @param isError whether the result must be an error, because the tool has an output schema.
 */
export function goesOnText (
  tool: string, call: string, message: string | undefined, isError: boolean
): string {
  const state = `${tool} is still at work${message === undefined ? '' : `: ${message}`}.`
  return toContinue(tool, call, state, isError)
}

/** Its result may have been told before: the text does not say that it is at work. */
export function unreadText (tool: string, call: string, isError: boolean): string {
  return toContinue(tool, call, `What became of ${tool} cannot be read now.`, isError)
}

function toContinue (tool: string, call: string, state: string, isError: boolean): string {
  return `${isError ? 'This is no error. ' : ''}${state} To get its result, ${continueWith(call)}. ` +
    `Do not call ${tool} again: that would begin the work once more.`
}

/** @param problems of the answers that did not fit. */
export function questionsText (
  tool: string, call: string, questions: readonly CallQuestion[], problems: readonly string[] = []
): string {
  const answers = questions.filter(({ way }) => way !== 'none').map(toExample)
  const next = answers.length === 0
    ? `This client cannot show it. To stop the work, ${continueWith(call)} and cancel: true.`
    : `Then ${continueWith(call)} and answers: { ${answers.join(', ')} }. ` +
      'If the user does not want to, pass decline: true in place of answers. ' +
      'To stop the work, pass cancel: true.'
  return [
    ...problems.length === 0 ? [] : [`These answers do not fit:\n${toList(problems)}`],
    `${tool} asks the user. Ask the user yourself, in the conversation. Never answer in place of the user.`,
    ...questions.map(toQuestionText),
    next
  ].join('\n\n')
}

/** @param problems of answers of which none is to be given again. */
export function untakenText (tool: string, call: string, problems: readonly string[]): string {
  return `These answers were not taken:\n${toList(problems)}\n\n` +
    `${tool} asks nothing now. To get its result, ${continueWith(call)}.`
}

export const cancelledText = (tool: string) => `The call of ${tool} was cancelled.`

/** @param reason why the client could not be asked. */
export function unaskedText (tool: string, call: string, reason: string): string {
  return `${reason} ${tool} waits for the answer. To ask again, ${continueWith(call)}; to stop the work, ` +
    'add cancel: true.'
}

/** @param call the id of the task, or what the model has written. */
function continueWith (call: string): string {
  return `call the tool ${CONTINUE_TOOL} with call: "${nextCall(call)}"`
}

function toExample ({ name, params, way }: CallQuestion): string {
  const fields = way === 'form' ? Object.keys(fieldsOf(params)) : []
  const members = fields.map((field) => `${toJson(field)}: …`).join(', ')
  const content = members === '' ? '{}' : `{ ${members} }`
  return `${toJson(name)}: ${content}`
}

function toQuestionText ({ name, params, way }: CallQuestion): string {
  const message = String(params.message ?? '')
  if (way === 'link') {
    return `Link ${toJson(name)}: ${message}\nShow the user this link, to open it: ${String(params.url)}`
  }
  const { required } = isObject(params.requestedSchema) ? params.requestedSchema : {}
  const requiredFields = new Set<unknown>(Array.isArray(required) ? required : [])
  const fields = Object.entries(fieldsOf(params)).map(([field, schema]) => (
    `${toJson(field)} (${requiredFields.has(field) ? 'required' : 'optional'}): ${describeField(schema)}`
  ))
  const note = way === 'none' ? '\nOnly the user can answer it, in a client with elicitation.' : ''
  return `Question ${toJson(name)}: ${message}${fields.length === 0 ? '' : `\n${toList(fields)}`}${note}`
}

function fieldsOf ({ requestedSchema }: CallQuestion['params']): { readonly [name: string]: unknown } {
  return isObject(requestedSchema) && isObject(requestedSchema.properties) ? requestedSchema.properties : {}
}

/** Describes a field of a form: its values, its bounds and its default. */
function describeField (schema: unknown): string {
  if (!isObject(schema)) return 'any value'
  const { title, description, default: preset, format, minLength, maxLength, minimum, maximum } = schema
  const bounds = [
    ...format === undefined ? [] : [`as ${String(format)}`],
    ...describeBounds(minLength, maxLength, 'characters'),
    ...describeBounds(minimum, maximum, ''),
    ...describeBounds(schema.minItems, schema.maxItems, 'choices')
  ]
  const values = [describeValues(schema), ...bounds].join(', ')
  const words = [title, description].filter((text) => typeof text === 'string').join('. ')
  return `${values}${preset === undefined ? '' : `; by default ${JSON.stringify(preset)}`}` +
    (words === '' ? '' : `. ${words}`)
}

function describeValues (schema: { readonly [key: string]: unknown }): string {
  const { type, items } = schema
  if (type === 'array') return isObject(items) ? `a list, each ${describeValues(items)}` : 'a list'
  const choices = toChoices(schema)
  if (choices !== undefined) return `one of ${choices.join(', ')}`
  if (type === 'boolean') return 'true or false'
  return type === 'integer' ? 'a whole number' : type === 'number' ? 'a number' : 'a text'
}

/** A choice with a title is shown with it. */
function toChoices (
  { enum: values, enumNames, oneOf, anyOf }: { readonly [key: string]: unknown }
): string[] | undefined {
  const titled = oneOf ?? anyOf
  if (Array.isArray(titled)) {
    return titled.filter(isObject).map(({ const: value, title }) => toChoice(value, title))
  }
  const names: unknown[] = Array.isArray(enumNames) ? enumNames : []
  return Array.isArray(values) ? values.map((value, index) => toChoice(value, names[index])) : undefined
}

function toChoice (value: unknown, title: unknown): string {
  const name = typeof title === 'string' && title !== value ? ` (${title})` : ''
  return JSON.stringify(value) + name
}

function describeBounds (low: unknown, high: unknown, unit: string): string[] {
  const smallest = low === undefined ? [] : [`at least ${String(low)}`]
  const greatest = high === undefined ? [] : [`at most ${String(high)}`]
  const parts = [...smallest, ...greatest]
  return parts.length === 0 ? [] : [`${parts.join(' and ')} ${unit}`.trimEnd()]
}

/** Not cut: the model must write the same name. */
const toJson = (text: string): string => JSON.stringify(text)

const toList = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n')
