// What somebody writes with a call at a terminal: the arguments of the tool, and answers to its questions.

import { readFile } from 'node:fs/promises'
import { createNearestNames } from '../../base/nearest-names.ts'
import { toPlain } from '../../base/words.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { TestAnswer } from '../testing/question.ts'
import { findAnswerProblems } from './ask-person.ts'
import { UsageError } from './command.ts'

/** Splits `key=value`. Throws a UsageError for a text without a key. */
function readPairs (texts: readonly string[], flag: string): Array<readonly [string, string]> {
  return texts.map((text) => {
    const at = text.indexOf('=')
    if (at < 1) throw new UsageError(`${flag} must have the form key=value, got ${JSON.stringify(text)}`)
    return [text.slice(0, at), text.slice(at + 1)] as const
  })
}

/** A value is a string where the schema says so, and where it is no JSON. The service checks the rest. */
export function readArguments (
  pairs: readonly string[], schema: object
): { readonly [name: string]: unknown } {
  const properties = 'properties' in schema && isObject(schema.properties) ? schema.properties : {}
  return Object.fromEntries(readPairs(pairs, 'an argument').map(([name, text]) => {
    const property = properties[name]
    return [name, isObject(property) && property.type === 'string' ? text : parse(text)]
  }))
}

/**
 * Returns a line for each argument that the schema does not name, and that looks like one that is missing. A
 * schema that is not closed accepts such an argument, and says nothing of it.
 */
export function findMisspelt (args: { readonly [name: string]: unknown }, schema: object): string[] {
  const properties = 'properties' in schema && isObject(schema.properties) ? schema.properties : {}
  if ('additionalProperties' in schema && schema.additionalProperties === false) return []
  const findNearest = createNearestNames(Object.keys(properties))
  return Object.keys(args).filter((name) => !Object.hasOwn(properties, name)).flatMap((name) => {
    const [nearest] = findNearest(name, (candidate) => !Object.hasOwn(args, candidate))
    return nearest === undefined ? [] : [`${name} is not in the schema of the tool: did you mean ${nearest}?`]
  })
}

export type KeyedAnswers = { readonly [key: string]: TestAnswer }

const EXPECTED = 'the content of a form as a JSON object, or one of accept, decline, cancel'

/** Flags come before the file. Rejects with a UsageError that names the answer. */
export async function readAnswerFlags (
  flags: readonly string[], file: string | undefined
): Promise<KeyedAnswers> {
  const answers = readPairs(flags, '--answer').map(
    ([key, text]) => [key, toAnswer(parse(text), `--answer ${key}`, text)] as const
  )
  return { ...file !== undefined && await readFromFile(file), ...Object.fromEntries(answers) }
}

async function readFromFile (file: string): Promise<KeyedAnswers> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(`--answers ${file} cannot be read: ${error.message}`)
  })
  const answers = parse(text)
  if (!isObject(answers)) {
    throw new UsageError(`--answers ${file} must be a JSON object: the answers by the keys of questions`)
  }
  return Object.fromEntries(Object.entries(answers).map(
    ([key, value]) => [key, toAnswer(value, `${key} in ${file}`, JSON.stringify(value))]
  ))
}

function toAnswer (value: unknown, place: string, text: string): TestAnswer {
  if (isObject(value)) return { action: 'accept', content: value }
  if (value === 'accept' || value === 'decline' || value === 'cancel') return { action: value }
  throw new UsageError(`${place} must be ${EXPECTED}, got ${text}`)
}

/** @param schema of the form that was asked. */
export function describeUnfitAnswer (answer: TestAnswer, schema: unknown): string {
  const content = 'content' in answer && isObject(answer.content) ? answer.content : {}
  const problems = isObject(schema) ? findAnswerProblems(schema, content) : []
  return `the answer does not fit${problems.length === 0 ? '' : `: ${problems.map(toPlain).join('; ')}`}`
}

/** A text that is no JSON stands for itself. */
function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
