// The errors of a test's requests.

import type { ProtocolError } from '../protocol/errors.ts'
import { exampleAnswer, toMember, type TestQuestion } from './test-question.ts'

/**
 * The request was answered with a JSON-RPC error: the primitive is unknown or hidden, a scope is missing, a
 * client capability is missing, or the handler failed. The message is the one that a client receives.
 *
 * If the handler threw, `cause` is its error, with the file and the line of the catalog in its stack. A
 * client never receives it.
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes
 */
export class RequestError extends Error {
  /** Such as -32602 for invalid params, -32603 for an internal error, 403 for a missing scope. */
  readonly code: number
  /** Such as `{ requiredScopes }` for a missing scope. `undefined` if the error has none. */
  readonly data: unknown

  constructor (
    { message, code, data, cause }: Pick<ProtocolError, 'message' | 'code'> & Partial<ProtocolError>
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.name = 'RequestError'
    this.code = code
    this.data = data
  }
}

/** The handler asked a question, and the test has no answer to it, or none that fits. */
export class QuestionError extends Error {
  readonly question: TestQuestion

  constructor (question: TestQuestion, problem: string) {
    const { key, kind, message } = question
    const asked = `The handler asks ${JSON.stringify(key)} (${kind})${message === '' ? '' : `: ${message}`}`
    const example = `{ answers: { ${toMember(key)}: ${exampleAnswer(question)} } }`
    super(`${asked}\n${problem} Answer it in the options of the call: ${example}`)
    this.name = 'QuestionError'
    this.question = question
  }
}

/**
 * The request was served, and answers of the test were not used: the handler has asked no questions with
 * their keys.
 */
export class AnswerError extends Error {
  /** The keys of the answers. */
  readonly keys: readonly string[]

  /** @param ending how the request ended, for the message. */
  constructor (keys: readonly string[], asked: readonly string[], ending: string) {
    const questions = asked.length === 0 ? 'nothing' : toList(asked)
    super(`Answers were not used: ${toList(keys)}. The handler asked ${questions}.${ending}`)
    this.name = 'AnswerError'
    this.keys = keys
  }
}

function toList (keys: readonly string[]): string {
  return keys.map((key) => JSON.stringify(key)).join(', ')
}
