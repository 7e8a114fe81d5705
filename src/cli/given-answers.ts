// Answers to the questions of a tool that are given with the command: by flags, or in a file.

import { readFile } from 'node:fs/promises'
import { isObject } from '../protocol/json-rpc.ts'
import type { TestAnswer } from '../testing/test-question.ts'
import { readPairs } from './call-arguments.ts'
import { UsageError } from './command.ts'

type Answers = { readonly [key: string]: TestAnswer }

const EXPECTED = 'the content of a form as a JSON object, or one of accept, decline, cancel'

/** Flags come before the file. Rejects with a UsageError that names the answer. */
export async function readAnswers (flags: readonly string[], file: string | undefined): Promise<Answers> {
  const written = readPairs(flags, '--answer').map(
    ([key, text]) => [key, toAnswer(parse(text), `--answer ${key}`, text)] as const
  )
  return { ...file !== undefined && await readFromFile(file), ...Object.fromEntries(written) }
}

async function readFromFile (file: string): Promise<Answers> {
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

/** A word without quotes stands for itself. */
function parse (text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
