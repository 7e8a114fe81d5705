// The questions of a call, answered in place.
// https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation

import { useSignal, type Signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isRecord, toPretty, type JsonObject } from '../connection/json.ts'
import { JsonEditor } from '../form/schema-form.tsx'
import type { Answered, Asked } from './call-record.ts'
import { FormQuestion, RefusalButtons, type AnswerProps } from './form-question.tsx'
import { answerCall } from './run-call.ts'

interface QuestionsProps {
  readonly callId: number
  readonly questions: { readonly [key: string]: Asked }
  /** The questions before, and their answers. */
  readonly answered: Answered | undefined
}

/** The answers go out together, once each question has one. */
export function Questions ({ callId, questions, answered }: QuestionsProps) {
  const [answers, setAnswers] = useState<JsonObject>({})
  const section = useRef<HTMLElement>(null)
  const open = Object.entries(questions).filter(([key]) => !Object.hasOwn(answers, key))
  useEffect(() => {
    // Not a control: a person who types elsewhere would answer.
    section.current?.focus({ preventScroll: true })
    // Below a tall screen a question would be out of sight.
    section.current?.scrollIntoView({ block: 'nearest' })
  }, [open.length])
  const answer = (key: string, response: JsonObject) => {
    const next = { ...answers, [key]: response }
    setAnswers(next)
    if (Object.keys(questions).every((name) => Object.hasOwn(next, name))) answerCall(callId, next)
  }
  return (
    <section class='questions' aria-label='Questions' ref={section} tabIndex={-1}>
      {open.map(([key, question]) => (
        <Question
          key={key} name={key} asked={question} refused={findRefused(key, question, answered)}
          onAnswer={(response) => answer(key, response)}
        />
      ))}
      {open.length === 0 && <p class='faint'>Answered.</p>}
    </section>
  )
}

/** Returns the answer to the same question: a service that asks it again has refused the answer. */
function findRefused (key: string, question: Asked, answered: Answered | undefined): unknown {
  const { questions: { [key]: before } = {}, responses: { [key]: response } = {} } = answered ?? {}
  if (JSON.stringify(before) !== JSON.stringify(question)) return undefined
  return isRecord(response) && response.action === 'accept' ? response.content : undefined
}

interface OtherQuestionProps extends AnswerProps { readonly name: string, readonly asked: Asked }

interface QuestionProps extends OtherQuestionProps { readonly refused: unknown }

function Question ({ name, asked: form, refused, onAnswer }: QuestionProps) {
  const { method, params: { mode, message, url, requestedSchema } } = form
  if (method !== 'elicitation/create') return <OtherQuestion name={name} asked={form} onAnswer={onAnswer} />
  return (
    <div class='question'>
      <p role='alert'><strong>{String(message)}</strong></p>
      {mode === 'url'
        ? <UrlQuestion url={String(url)} onAnswer={onAnswer} />
        : <FormQuestion name={name} schema={requestedSchema} refused={refused} onAnswer={onAnswer} />}
    </div>
  )
}

/** The address of another party: the person sees it before it is opened. */
function UrlQuestion ({ url, onAnswer }: AnswerProps & { readonly url: string }) {
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

function OtherQuestion ({ name, asked: { method, params }, onAnswer }: OtherQuestionProps) {
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
