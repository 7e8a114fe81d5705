// The questions of a call, answered in place.
// https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation

import { useSignal, type Signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isRecord, toPretty, type JsonObject } from '../connection/json.ts'
import { toFirstValue } from '../form/field-kinds.ts'
import { resolve } from '../form/schema.ts'
import { Fields, JsonEditor } from '../form/schema-form.tsx'
import type { Asked } from './call-record.ts'
import { answerCall } from './run-call.ts'

interface QuestionsProps {
  readonly callId: number
  readonly questions: { readonly [key: string]: Asked }
}

/** The answers go out together, once each question has one. */
export function Questions ({ callId, questions }: QuestionsProps) {
  const [answers, setAnswers] = useState<JsonObject>({})
  const section = useRef<HTMLElement>(null)
  // Below a tall screen a question would be out of sight.
  useEffect(() => section.current?.scrollIntoView({ block: 'nearest' }), [])
  const open = Object.entries(questions).filter(([key]) => !Object.hasOwn(answers, key))
  const answer = (key: string, response: JsonObject) => {
    const next = { ...answers, [key]: response }
    setAnswers(next)
    if (Object.keys(questions).every((one) => Object.hasOwn(next, one))) answerCall(callId, next)
  }
  return (
    <section class='questions' aria-label='Questions' ref={section}>
      {open.map(([key, asked]) => (
        <Question key={key} name={key} asked={asked} onAnswer={(response) => answer(key, response)} />
      ))}
      {open.length === 0 && <p class='faint'>Answered.</p>}
    </section>
  )
}

interface QuestionProps {
  readonly name: string
  readonly asked: Asked
  readonly onAnswer: (response: JsonObject) => void
}

function Question ({ name, asked, onAnswer }: QuestionProps) {
  const { method, params: { mode, message, url, requestedSchema } } = asked
  if (method !== 'elicitation/create') return <OtherQuestion name={name} asked={asked} onAnswer={onAnswer} />
  return (
    <div class='question'>
      <p role='alert'><strong>{String(message)}</strong></p>
      {mode === 'url'
        ? <UrlQuestion url={String(url)} onAnswer={onAnswer} />
        : <FormQuestion name={name} schema={requestedSchema} onAnswer={onAnswer} />}
    </div>
  )
}

interface FormQuestionProps extends Omit<QuestionProps, 'asked'> { readonly schema: unknown }

function FormQuestion ({ name, schema: requested, onAnswer }: FormQuestionProps) {
  const schema = isRecord(requested) ? requested : {}
  const value: Signal<unknown> = useSignal(toFirstValue(resolve(schema, schema), schema, true) ?? {})
  const accept = (event: Event) => {
    event.preventDefault()
    onAnswer({ action: 'accept', content: value.value })
  }
  const acceptByKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) accept(event)
  }
  return (
    <form noValidate aria-label={name} onSubmit={accept} onKeyDown={acceptByKey}>
      <Fields id={`q.${name}`} label={name} schema={schema} value={value} />
      <div class='row'>
        <button type='submit' class='primary'>Accept</button>
        <RefusalButtons onAnswer={onAnswer} />
      </div>
    </form>
  )
}

function RefusalButtons ({ onAnswer }: Pick<QuestionProps, 'onAnswer'>) {
  return (
    <>
      <button type='button' onClick={() => onAnswer({ action: 'decline' })}>Decline</button>
      <button type='button' onClick={() => onAnswer({ action: 'cancel' })}>Cancel the question</button>
    </>
  )
}

/** The address of another party: the person sees it before it is opened. */
function UrlQuestion ({ url, onAnswer }: Pick<QuestionProps, 'onAnswer'> & { readonly url: string }) {
  const isWeb = /^https?:\/\//i.test(url)
  return (
    <>
      <p>{isWeb ? <a href={url} target='_blank' rel='noopener noreferrer'>{url}</a> : <code>{url}</code>}</p>
      <div class='row'>
        <button type='button' class='primary' onClick={() => onAnswer({ action: 'accept' })}>
          I have opened it
        </button>
        <RefusalButtons onAnswer={onAnswer} />
      </div>
    </>
  )
}

/** What the model of a host would answer, as JSON. */
const TEMPLATES: { readonly [method: string]: JsonObject } = {
  'sampling/createMessage': {
    role: 'assistant', content: { type: 'text', text: '' }, model: 'console', stopReason: 'endTurn'
  },
  'roots/list': { roots: [] }
}

function OtherQuestion ({ name, asked: { method, params }, onAnswer }: QuestionProps) {
  const value: Signal<unknown> = useSignal(TEMPLATES[method] ?? {})
  const [problem, setProblem] = useState<string | undefined>(undefined)
  return (
    <div class='question'>
      <p role='alert'><strong>{name}</strong> asks for <code>{method}</code>:</p>
      <pre tabIndex={0} role='group' aria-label={`Parameters of ${name}`}>{toPretty(params)}</pre>
      <JsonEditor id={`q.${name}`} label={`Answer to ${name}`} value={value} onProblem={setProblem} />
      <div class='row'>
        <button
          type='button' class='primary' disabled={problem !== undefined}
          onClick={() => onAnswer(isRecord(value.value) ? value.value : {})}
        >
          Answer
        </button>
      </div>
    </div>
  )
}
