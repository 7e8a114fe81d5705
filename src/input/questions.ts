// What authors ask, by kind.

import type { InputKind, InputRequest } from '../authoring/input-request.ts'
import { isObject } from '../protocol/json-rpc.ts'
import { createFormQuestions, toUrlQuestion } from './elicitation.ts'
import { createForms } from './form.ts'
import { plainAnswer, toRequestJson, type Complain, type Question, type ToQuestion } from './question.ts'
import { toSampleQuestion } from './sampling.ts'
import { rootsResultShape } from './sampling-shapes.ts'

export type Questions = (request: InputRequest, complain: Complain) => Question | undefined

/** To be made once: what is compiled for a question is kept for the next like it. */
export function createQuestions (): Questions {
  const kinds: { readonly [K in InputKind]: ToQuestion } = {
    form: createFormQuestions(createForms()),
    url: toUrlQuestion,
    sample: toSampleQuestion,
    roots: toRootsQuestion
  }
  return (request, complain) => {
    // Authors may write without types.
    if (!isObject(request) || !Object.hasOwn(kinds, request.kind) || !isObject(request.params)) {
      complain('must be made by elicit.form, elicit.url, sample or roots')
      return undefined
    }
    return kinds[request.kind](request.params, complain)
  }
}

/** https://modelcontextprotocol.io/specification/2026-07-28/client/roots */
const toRootsQuestion: ToQuestion = () => ({
  json: toRequestJson('roots/list', {}),
  needs: { roots: {} },
  read (response) {
    if (!rootsResultShape(response).ok || !isObject(response) || !Array.isArray(response.roots)) return undefined
    return plainAnswer({ roots: response.roots.filter(isObject).map(({ uri, name }) => name === undefined ? { uri } : { uri, name }) })
  }
})
