// The questions of a task to its client, and the answers.

import { taskAnswersTooLarge } from '../protocol/errors.ts'
import { MAX_STATE_BYTES, stateBytes } from './journal.ts'
import { openQuestions, type TaskRecord } from './record.ts'

/** The limit of questions of one task. A question that is repeated after an unfit answer counts again. */
export const MAX_QUESTIONS = 200

/** The answers of a client, by the keys that it sees. */
export interface Responses { readonly [key: string]: unknown }

/**
 * Adds the questions that the handler asked in this run, and closes all others. Each gets a new key for the
 * client: a client may ignore a key that it has seen before.
 * @param asked the input requests, by the keys of `ctx.ask`.
 */
export function addQuestions (
  before: TaskRecord['questions'], asked: ReadonlyMap<string, string>
): TaskRecord['questions'] {
  const questions = new Map(Object.entries(before).map(([name, question]) => {
    const isStillOpen = !question.isAnswered && asked.get(question.key) === question.json
    // A closed question only reserves its name.
    return [name, isStillOpen ? question : { ...question, json: '', isAnswered: true }]
  }))
  const open = new Set([...questions.values()].flatMap(({ key, isAnswered }) => isAnswered ? [] : [key]))
  for (const [key, json] of asked) {
    if (open.has(key)) continue
    let name = key
    for (let number = 2; questions.has(name); number++) name = `${key} (${number})`
    questions.set(name, { key, json, isAnswered: false })
  }
  return Object.fromEntries(questions)
}

/** Whether a response answers an open question. */
export function hasAnswer (record: TaskRecord, responses: Responses): boolean {
  return openQuestions(record).some(([name]) => Object.hasOwn(responses, name))
}

/** Returns the record's questions and answers with the responses. Throws if the answers take too much. */
export function findAnswers (
  record: TaskRecord, responses: Responses
): Pick<TaskRecord, 'questions' | 'answers'> {
  const answered = openQuestions(record).filter(([name]) => Object.hasOwn(responses, name))
  const questions = answered.map(([name, question]) => [name, { ...question, isAnswered: true }] as const)
  const answers = answered.map(([name, { key }]) => [key, JSON.stringify(responses[name])] as const)
  const change = {
    questions: { ...record.questions, ...Object.fromEntries(questions) },
    answers: { ...record.answers, ...Object.fromEntries(answers) }
  }
  const state = { answers: toMap(change.answers), results: toMap(record.results) }
  if (stateBytes(state) > MAX_STATE_BYTES) throw taskAnswersTooLarge(MAX_STATE_BYTES)
  return change
}

function toMap (texts: { readonly [key: string]: string }): Map<string, string> {
  return new Map(Object.entries(texts))
}
