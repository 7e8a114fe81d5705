// Questions for the client's user.
// https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation

import { isObject } from '../../platform/protocol/json-rpc.ts'
import type { Verdict } from '../../platform/schema/check.ts'
import { checkOf } from '../../platform/schema/reader.ts'
import { Type } from '../../platform/schema/type.ts'
import { Forms, type Form } from './form.ts'
import {
  type Answer, findJsonProblem, type ReportQuestionProblem, type ToQuestion, toRequestJson, toUnchangedAnswer
} from './question.ts'

const urlCheck = checkOf(
  Type.Object({ url: Type.String({ format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' }) })
)

/** Later questions with the same schema use its compiled form. */
const forms = new Forms()

function checkMessage (message: unknown, report: ReportQuestionProblem): void {
  if (typeof message !== 'string' || message.trim() === '') {
    report('message: must be a text that says why the answer is needed')
  }
}

export const toFormQuestion: ToQuestion = ({ message, requestedSchema }, report) => {
  checkMessage(message, report)
  const form = forms.of(requestedSchema)
  for (const problem of form.problems) report(`schema: ${problem}`)
  if (form.problems.length > 0) return undefined
  const params = `"mode":"form","message":${JSON.stringify(message)},"requestedSchema":${form.json}`
  return {
    json: `{"method":"elicitation/create","params":{${params}}}`,
    requiredCapabilities: { elicitation: { form: {} } },
    read: (response) => readFormResponse(form, response)
  }
}

function readFormResponse (form: Form, response: unknown): Answer | undefined | Promise<Answer | undefined> {
  if (!isObject(response)) return undefined
  const { action, content = {} } = response
  if (action === 'decline' || action === 'cancel') return toUnchangedAnswer({ action })
  if (action !== 'accept' || !isObject(content)) return undefined
  const answers = Object.fromEntries(
    form.fields.filter((field) => Object.hasOwn(content, field)).map((field) => [field, content[field]])
  )
  const verdict = form.check(answers)
  return verdict instanceof Promise ? verdict.then(toFormAnswer) : toFormAnswer(verdict)

  /** The JSON has the content as it came: a schema that transforms it does so again in each round. */
  function toFormAnswer (verdict: Verdict): Answer | undefined {
    // JSON.parse reads a number such as 1e999 as Infinity, which JSON.stringify would write as null.
    return verdict.ok && findJsonProblem(answers, '') === undefined
      ? { value: { action, content: verdict.value }, json: JSON.stringify({ action, content: answers }) }
      : undefined
  }
}

export const toUrlQuestion: ToQuestion = ({ message, url }, report) => {
  checkMessage(message, report)
  const isUrl = urlCheck({ url })
  if (!isUrl.ok) report(`url: must be an absolute http or https URL, got ${JSON.stringify(url) ?? 'nothing'}`)
  else if (hasCredentials(url)) {
    report('url: must not have a user name or password; it is shown to the client')
  }
  return {
    json: toRequestJson('elicitation/create', { mode: 'url', message, url }),
    requiredCapabilities: { elicitation: { url: {} } },
    read: (response) => isObject(response) && isAction(response.action)
      ? toUnchangedAnswer({ action: response.action })
      : undefined
  }
}

function hasCredentials (url: unknown): boolean {
  if (typeof url !== 'string' || !URL.canParse(url)) return false
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}

function isAction (action: unknown): boolean {
  return action === 'accept' || action === 'decline' || action === 'cancel'
}
