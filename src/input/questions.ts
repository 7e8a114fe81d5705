// What authors ask, by kind.

import type { InputKind, InputRequest } from '../authoring/input-request.ts'
import { isObject } from '../protocol/json-rpc.ts'
import { createFormQuestions, toUrlQuestion } from './elicitation.ts'
import { createForms } from './form.ts'
import {
  plainAnswer, toRequestJson, type ReportQuestionProblem, type Question, type ToQuestion
} from './question.ts'
import { toSampleQuestion } from './sampling.ts'
import { rootsResultShape } from './sampling-shapes.ts'

export type Questions = (request: InputRequest, report: ReportQuestionProblem) => Question | undefined

/** To be made once: what is compiled for a question is kept for the next like it. */
export function createQuestions (): Questions {
  const kinds: { readonly [K in InputKind]: ToQuestion } = {
    form: createFormQuestions(createForms()),
    url: toUrlQuestion,
    sample: toSampleQuestion,
    roots: toRootsQuestion
  }
  return (request, report) => {
    // Authors may write without types.
    if (!isObject(request) || !Object.hasOwn(kinds, request.kind) || !isObject(request.params)) {
      report('must be made by elicit.form, elicit.url, sample or roots')
      return undefined
    }
    return kinds[request.kind](request.params, report)
  }
}

/**
 * What an author asks, each under its key. Throws an Error that lists every problem.
 * @param before the question that a key already names in this request.
 */
export function readQuestions (
  questions: Questions, requests: {
    readonly [key: string]: InputRequest
  }, before: (key: string) => Question | undefined
): ReadonlyArray<readonly [string, Question]> {
  if (!isObject(requests)) throw new Error('ask: takes an object of questions, each under a key of its own')
  const problems: string[] = []
  const read = Object.entries(requests).flatMap(([key, request]) => {
    const report = (rule: string) => problems.push(`ask, ${JSON.stringify(key)}: ${rule}`)
    if (key === '') report('a key must not be empty')
    const question = questions(request, report)
    if (question === undefined) return []
    const known = before(key)
    if (known !== undefined && known.json !== question.json) {
      report('this key already names another question of this request; give each question a key of its own')
    }
    return [[key, question] as const]
  })
  if (problems.length > 0) throw new Error(problems.join('; '))
  return read
}

/** https://modelcontextprotocol.io/specification/2026-07-28/client/roots */
const toRootsQuestion: ToQuestion = () => ({
  json: toRequestJson('roots/list', {}),
  requiredCapabilities: { roots: {} },
  read (response) {
    if (!rootsResultShape(response).ok || !isObject(response) || !Array.isArray(response.roots)) {
      return undefined
    }
    return plainAnswer({
      roots: response.roots.filter(isObject).map(({ uri, name }) => name === undefined
        ? { uri }
        : {
            uri, name
          })
    })
  }
})
