// The questions of a task to its client, and the answers.

import { taskAnswersTooLarge } from '../../../platform/protocol/errors.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import { toCanonicalJson } from '../../../request/questions/request-state.ts'
import { MAX_STATE_BYTES, stateBytes } from '../journal/journal.ts'
import { openQuestions, type TaskRecord } from '../records/record.ts'

/** The limit of questions of one task. A question that is repeated after an unfit answer counts again. */
export const MAX_QUESTIONS = 200

/** The answers of a client, by the keys that it sees. */
export interface Responses { readonly [key: string]: unknown }

/**
 * Adds the questions that the handler asked in this run, and closes all others. Each gets a new key for the
 * client: a client may ignore a key that it has seen before.
 * @param openQuestions the input requests, by the keys of `ctx.ask`.
 */
export function addQuestions (
  before: TaskRecord['questions'], openQuestions: ReadonlyMap<string, string>
): TaskRecord['questions'] {
  const questions = new Map(Object.entries(before).map(([name, question]) => {
    const isStillOpen = !question.isAnswered && openQuestions.get(question.key) === question.json
    // A closed question only reserves its name.
    return [name, isStillOpen ? question : { ...question, json: '', isAnswered: true }]
  }))
  const open = new Set([...questions.values()].flatMap(({ key, isAnswered }) => isAnswered ? [] : [key]))
  for (const [key, json] of openQuestions) {
    if (open.has(key)) continue
    let name = key
    for (let number = 2; questions.has(name); number++) name = `${key} (${number})`
    questions.set(name, { key, json, isAnswered: false })
  }
  return Object.fromEntries(questions)
}

/** Returns what a run has asked, without the questions whose answers came while it ran. */
export function findUnanswered (
  { answers }: Pick<TaskRecord, 'answers'>,
  event: { readonly asked: ReadonlyMap<string, string>, readonly unfit: ReadonlySet<string> }
): ReadonlyMap<string, string> {
  return new Map([...event.asked].filter(([key]) => event.unfit.has(key) || !Object.hasOwn(answers, key)))
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

/** Returns the names of the responses to questions that had another answer before: the first one counts. */
export function findLateAnswers (
  { questions, answers }: Pick<TaskRecord, 'questions' | 'answers'>, responses: Responses
): readonly string[] {
  return Object.entries(responses).flatMap(([name, response]) => {
    const { key = '', isAnswered = false } = Object.hasOwn(questions, name) ? questions[name] ?? {} : {}
    const first = Object.hasOwn(answers, key) ? answers[key] : undefined
    return !isAnswered || (first !== undefined && isRepetition(JSON.parse(first), response)) ? [] : [name]
  })
}

/** Whether the response says what the first one said. The first one may also have the defaults of a form. */
function isRepetition (first: unknown, response: unknown): boolean {
  if (!isObject(first) || !isObject(response) || first.action !== response.action) return false
  const { content = {} } = first
  return Object.entries(response.content ?? {}).every(([field, value]) => (
    isObject(content) && toCanonicalJson(content[field]) === toCanonicalJson(value)
  ))
}

function toMap (texts: { readonly [key: string]: string }): Map<string, string> {
  return new Map(Object.entries(texts))
}
