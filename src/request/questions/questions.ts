// Turns the input requests of authors into questions.

import type { InputKind, InputRequest } from '../../platform/author/input-request.ts'
import { isObject } from '../../platform/protocol/json-rpc.ts'
import { checkOf } from '../../platform/schema/reader.ts'
import { Type } from '../../platform/schema/type.ts'
import { toFormQuestion, toUrlQuestion } from './elicitation.ts'
import {
  toUnchangedAnswer, toRequestJson, type ReportQuestionProblem, type Question, type ToQuestion
} from './question.ts'
import { toSampleQuestion } from './sampling.ts'

/**
 * Reads the questions, each with its key. Throws an Error that lists every problem.
 * @param before the question that this request asked earlier under a key.
 */
export function readQuestions (
  requests: { readonly [key: string]: InputRequest },
  before: (key: string) => Question | undefined
): ReadonlyArray<readonly [string, Question]> {
  if (!isObject(requests)) throw new Error('ask: takes an object of questions, each under a key of its own')
  const problems: string[] = []
  const questionsByKey = Object.entries(requests).flatMap(([key, request]) => {
    const report = (rule: string) => problems.push(`ask, ${JSON.stringify(key)}: ${rule}`)
    if (key === '') report('a key must not be empty')
    if (!key.isWellFormed()) report('a key must be well-formed text: clients repeat it')
    const question = toQuestion(request, report)
    if (question === undefined) return []
    const earlier = before(key)
    if (earlier !== undefined && earlier.json !== question.json) {
      report('this key already names another question of this request; give each question a key of its own')
    }
    return [[key, question] as const]
  })
  if (problems.length > 0) throw new Error(problems.join('; '))
  return questionsByKey
}

function toQuestion (request: InputRequest, report: ReportQuestionProblem): Question | undefined {
  // The types do not protect authors who write JavaScript.
  if (isObject(request) && Object.hasOwn(KINDS, request.kind) && isObject(request.params)) {
    return KINDS[request.kind](request.params, report)
  }
  report('must be made by elicit.form, elicit.url, sample or roots')
  return undefined
}

const rootsResultShape = checkOf(Type.Object({
  roots: Type.Array(Type.Object({ uri: Type.String({ pattern: '^file://' }), name: Type.Optional(Type.String()) }))
}))

/** https://modelcontextprotocol.io/specification/2026-07-28/client/roots */
const toRootsQuestion: ToQuestion = () => ({
  json: toRequestJson('roots/list', {}),
  requiredCapabilities: { roots: {} },
  read (response) {
    if (!rootsResultShape(response).ok || !isObject(response) || !Array.isArray(response.roots)) {
      return undefined
    }
    const roots = response.roots.filter(isObject)
      .map(({ uri, name }) => name === undefined ? { uri } : { uri, name })
    return toUnchangedAnswer({ roots })
  }
})

const KINDS: { readonly [K in InputKind]: ToQuestion } = {
  form: toFormQuestion, url: toUrlQuestion, sample: toSampleQuestion, roots: toRootsQuestion
}
