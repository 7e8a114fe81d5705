// The questions of a call, for the requests that wait for it: which of them their client can be asked, which
// its model may pass on, and the answers that a model brings.

import type { InputRequest } from '../../../platform/author/input-request.ts'
import { counted, quote } from '../../../base/words.ts'
import { findMissingCapabilities, type ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import { MAX_PROBLEMS } from '../../../platform/schema/check.ts'
import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import { Forms } from '../../../request/questions/form.ts'
import type { InputRound } from '../../../request/questions/input-round.ts'
import { readQuestions } from '../../../request/questions/questions.ts'
import type { CallQuestion } from './texts.ts'
import type { Responses } from '../machine/questions.ts'
import { openQuestions, type TaskRecord } from '../records/record.ts'

/** Input requests as the handlers of authors make them, by the names of the questions. */
export type NamedRequests = { readonly [name: string]: InputRequest }

/** Later answers to the same form use its compiled check. */
const forms = new Forms()

/** Returns the question as a handler makes it, to ask it once more. */
function toInputRequest (json: string): InputRequest {
  const { method, params }: { method: string, params: CallQuestion['params'] } = JSON.parse(json)
  switch (method) {
    case 'sampling/createMessage': return { kind: 'sample', params }
    case 'roots/list': return { kind: 'roots', params }
    default: return { kind: params.mode === 'url' ? 'url' : 'form', params }
  }
}

/** The open questions of a call: those for the client of a request, and those that it cannot be asked. */
interface PartedQuestions { readonly requests: NamedRequests, readonly relayed: readonly CallQuestion[] }

/**
 * Whether nobody has seen a question: the client has cancelled it sooner than a person reads.
 * @param elapsedMs since it was sent, if that is known.
 */
export function isUnseen (response: unknown, readingMs: number, elapsedMs = Infinity): boolean {
  return elapsedMs < readingMs && isObject(response) && response.action === 'cancel'
}

/** Whether the model of a client may pass on the open questions of a call that nobody has seen. */
export function mayTakeOver (
  { view, snapshot }: Pick<RequestContext, 'view' | 'snapshot'>,
  { tool, client, answers }: Pick<TaskRecord, 'tool' | 'client' | 'answers'>
): boolean {
  return snapshot.server.continuesCalls && view.tool(tool)?.task?.relaysQuestions === true &&
    client.isUnattended !== true && !Object.values(answers).some(isAccepted)
}

function isAccepted (json: string): boolean {
  const answer: unknown = JSON.parse(json)
  return isObject(answer) && answer.action === 'accept'
}

/** @param round that of the request, which knows what its revision can ask. */
export function partQuestions (
  { view, envelope }: Pick<RequestContext, 'view' | 'envelope'>, round: Pick<InputRound, 'mayAsk'>,
  record: Pick<TaskRecord, 'questions' | 'tool' | 'client'>
): PartedQuestions {
  const relaysForms = view.tool(record.tool)?.task?.relaysQuestions === true
  const isUnattended = record.client.isUnattended === true
  const requests: Array<readonly [string, InputRequest]> = []
  const relayed: CallQuestion[] = []
  for (const [name, { json }] of openQuestions(record)) {
    const request = toInputRequest(json)
    const { kind, params } = request
    const isAskable = !isUnattended || kind === 'sample' || kind === 'roots'
    if (isAskable && declares(envelope.clientCapabilities, request) && round.mayAsk?.(json) !== false) {
      requests.push([name, request])
    } else {
      const way = kind === 'url' ? 'link' : kind === 'form' && relaysForms ? 'form' : 'none'
      relayed.push({ name, params, way })
    }
  }
  return { requests: Object.fromEntries(requests), relayed }
}

function declares (capabilities: ClientCapabilities, request: InputRequest): boolean {
  return readQuestions({ request }, () => undefined).every(([, { requiredCapabilities }]) => (
    findMissingCapabilities(requiredCapabilities, capabilities) === undefined
  ))
}

/** The answers that fit, and what is wrong with the others. */
interface ReadAnswers { readonly responses: Responses, readonly problems: readonly string[] }

/** @param answers as the model wrote them: by the name of the question, then by field. */
export async function readRelayedAnswers (
  questions: readonly CallQuestion[], answers: { readonly [name: string]: unknown }
): Promise<ReadAnswers> {
  const responses: Array<readonly [string, object]> = []
  const problems: string[] = []
  for (const [name, answer] of Object.entries(answers)) {
    const question = questions.find((candidate) => candidate.name === name)
    const content = question === undefined ? answer : withDefaults(question, answer)
    const wrong = question === undefined ? ['is no open question'] : await findProblems(question, content)
    if (wrong.length > 0) problems.push(...wrong.map((problem) => `${quote(name)} ${problem}`))
    else responses.push([name, { action: 'accept', ...question?.way === 'form' && { content } }])
  }
  const excess = problems.length - MAX_PROBLEMS
  const note = excess > 0 ? [`and ${counted(excess, 'more problem')}`] : []
  return {
    responses: Object.fromEntries(responses), problems: [...problems.slice(0, MAX_PROBLEMS), ...note]
  }
}

/** A form that a person fills in has its defaults already. */
function withDefaults ({ params: { requestedSchema } }: CallQuestion, content: unknown): unknown {
  const { properties } = isObject(requestedSchema) ? requestedSchema : {}
  if (!isObject(content) || !isObject(properties)) return content
  const defaults = Object.entries(properties).flatMap(([field, schema]) => (
    isObject(schema) && schema.default !== undefined ? [[field, schema.default] as const] : []
  ))
  return { ...Object.fromEntries(defaults), ...content }
}

async function findProblems ({ way, params }: CallQuestion, content: unknown): Promise<readonly string[]> {
  if (way === 'none') return ['must be answered by the user, in a client with elicitation']
  if (way === 'link') return []
  if (!isObject(content)) return ['must be an object of the fields of the form']
  const { fields, check } = forms.of(params.requestedSchema)
  const unknown = Object.keys(content).filter((field) => !fields.includes(field))
  if (unknown.length > 0) return unknown.slice(0, MAX_PROBLEMS).map((field) => `has no field ${quote(field)}`)
  const verdict = await check(content)
  return verdict.ok ? [] : verdict.problems
}
