// What the text of a result tells a model of a call that goes on: which call it is, and what that asks.

import { CONTINUE_TOOL } from '../../catalog/compiled/definitions/continue-tool.ts'
import { isObject, parseJson } from '../../platform/protocol/json-rpc.ts'
import type { JsonSchema } from '../../platform/protocol/primitives.ts'
import type { InputRequestJson } from './question.ts'

/** A call that goes on after its answer, or waits for answers. */
export interface CallText {
  readonly call: string
  readonly text: string
  /** The questions that the model passes on, by the names of their answers. Empty while the work goes on. */
  readonly requests: { readonly [name: string]: InputRequestJson }
}

const NAMED = `call the tool ${CONTINUE_TOOL} with call: "([^"]+)"`
const AT_WORK = new RegExp(`To get its result, ${NAMED}\\.`)
const ASKS = new RegExp(`Then ${NAMED} and answers: (\\{.*?\\})\\. `)
const LINK = '\nShow the user this link, to open it: '
const FIELD = /\n- ("(?:[^"\\]|\\.)*") \((required|optional)\): /

/** Returns `undefined` for a result that tells the model nothing of a call. */
export function readCallText (result: object): CallText | undefined {
  const [block, ...excess] = 'content' in result && Array.isArray(result.content) ? result.content : []
  if (!isObject(block) || typeof block.text !== 'string' || excess.length > 0) return undefined
  const { text } = block
  const [, call] = AT_WORK.exec(text) ?? []
  if (call !== undefined) return { call, text, requests: {} }
  const [end, asking, example] = ASKS.exec(text) ?? []
  if (end === undefined || asking === undefined || example === undefined) return undefined
  return { call: asking, text, requests: readQuestions(text.slice(0, text.indexOf(end)), example) }
}

/** @param example of the answers: it has the names of all questions, and of the fields of their forms. */
function readQuestions (text: string, example: string): CallText['requests'] {
  const forms = parseJson(example.replaceAll(': …', ': null'))
  let remainder = text
  const requests: Array<readonly [string, InputRequestJson]> = []
  // The last one first: the message of a question may look like the head of another one.
  for (const [name, fields] of Object.entries(isObject(forms) ? forms : {}).toReversed()) {
    const title = `${JSON.stringify(name)}: `
    const asLink = remainder.lastIndexOf(`\nLink ${title}`)
    const at = Math.max(asLink, remainder.lastIndexOf(`\nQuestion ${title}`))
    const section = remainder.slice(remainder.indexOf(title, at) + title.length).trimEnd()
    remainder = remainder.slice(0, at)
    const params = at === asLink
      ? readLink(section)
      : readForm(section, Object.keys(isObject(fields) ? fields : {}))
    requests.push([name, { method: 'elicitation/create', params }])
  }
  return Object.fromEntries(requests.toReversed())
}

function readLink (section: string): NonNullable<InputRequestJson['params']> {
  const at = section.lastIndexOf(LINK)
  return { mode: 'url', message: section.slice(0, at), url: section.slice(at + LINK.length) }
}

function readForm (section: string, fields: readonly string[]): NonNullable<InputRequestJson['params']> {
  const [message = '', ...parts] = section.split(FIELD)
  const properties = new Map<string, JsonSchema>()
  const required: string[] = []
  for (let index = 0; index < parts.length; index += 3) {
    const [quoted = '""', need, text = ''] = parts.slice(index, index + 3)
    const field = String(parseJson(quoted))
    if (!fields.includes(field)) continue
    properties.set(field, readField(text))
    if (need === 'required') required.push(field)
  }
  const requestedSchema = { type: 'object', properties: Object.fromEntries(properties), required }
  return { mode: 'form', message, requestedSchema }
}

const TYPES = [
  ['true or false', 'boolean'], ['a whole number', 'integer'], ['a number', 'number'], ['a text', 'string']
] as const
const DEFAULT = /; by default ("(?:[^"\\]|\\.)*"|\[.*?\]|-?\w+(?:\.\d+)?)/

/** Only what helps to type a value: the service checks it against the form itself. */
function readField (text: string): JsonSchema {
  const [preset, value] = DEFAULT.exec(text) ?? []
  const { schema, rest: remainder } = readValue(preset === undefined ? text : text.replace(preset, ''))
  const description = remainder.replace(/^[.,;]? */, '')
  return {
    ...schema,
    ...description !== '' && { description },
    ...value !== undefined && { default: parseJson(value) }
  }
}

function readValue (text: string): { readonly schema: JsonSchema, readonly rest: string } {
  if (text.startsWith('a list')) {
    const { schema, rest: remainder } = readValue(text.replace(/^a list(?:, each )?/, ''))
    return { schema: { type: 'array', items: schema }, rest: remainder }
  }
  if (text.startsWith('one of ')) return readChoices(text.slice('one of '.length))
  for (const [words, type] of TYPES) {
    if (text.startsWith(words)) return { schema: { type }, rest: text.slice(words.length) }
  }
  return { schema: {}, rest: text.replace(/^any value/, '') }
}

const CHOICE = /^(?:, )?("(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*|true|false|null)(?: \(([^)]*)\))?/

function readChoices (text: string): { readonly schema: JsonSchema, readonly rest: string } {
  const oneOf: JsonSchema[] = []
  let remainder = text
  for (;;) {
    const [matched, value, title] = CHOICE.exec(remainder) ?? []
    if (matched === undefined || value === undefined) return { schema: { oneOf }, rest: remainder }
    oneOf.push({ const: parseJson(value), ...title !== undefined && { title } })
    remainder = remainder.slice(matched.length)
  }
}
