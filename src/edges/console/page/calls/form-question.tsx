// The form of a question: it is checked before it is sent, and keeps its values if it comes again.

import { useSignal, type Signal } from '@preact/signals'
import { useState } from 'preact/hooks'
import { isRecord, type JsonObject } from '../connection/json.ts'
import { FieldProblems, findFieldProblems } from '../form/answer-problems.ts'
import { toFirstValue } from '../form/field-kinds.ts'
import { resolve } from '../form/schema.ts'
import { Fields } from '../form/schema-form.tsx'

export interface AnswerProps { readonly onAnswer: (response: JsonObject) => void }

interface FormQuestionProps extends AnswerProps {
  readonly name: string
  readonly schema: unknown
  /** What the person answered to the same question. */
  readonly refused: unknown
}

export function FormQuestion ({ name, schema: requested, refused, onAnswer }: FormQuestionProps) {
  const schema = isRecord(requested) ? requested : {}
  const value: Signal<unknown> = useSignal(
    refused ?? toFirstValue(resolve(schema, schema), schema, true) ?? {}
  )
  const [isChecked, setChecked] = useState(false)
  const id = `q.${name}`
  const problems = isChecked ? findFieldProblems(id, schema, value.value) : {}
  const accept = (event: Event) => {
    event.preventDefault()
    const [first] = Object.keys(findFieldProblems(id, schema, value.value))
    setChecked(true)
    if (first === undefined) onAnswer({ action: 'accept', content: value.value })
    // The field of several choices has no control of its own.
    else (document.getElementById(first) ?? document.getElementById(`${first}.0`))?.focus()
  }
  const acceptByKey = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) accept(event)
  }
  return (
    <form noValidate aria-label={name} onSubmit={accept} onKeyDown={acceptByKey}>
      {refused !== undefined && <p class='bad' role='alert'>The answer did not fit the form.</p>}
      <FieldProblems.Provider value={problems}>
        <Fields id={id} label={name} schema={schema} value={value} />
      </FieldProblems.Provider>
      <div class='row'>
        <button type='submit' class='primary'>Accept</button>
        <RefusalButtons onAnswer={onAnswer} />
      </div>
    </form>
  )
}

export function RefusalButtons ({ onAnswer }: AnswerProps) {
  return (
    <>
      <button type='button' onClick={() => onAnswer({ action: 'decline' })}>Decline</button>
      <button type='button' onClick={() => onAnswer({ action: 'cancel' })}>Cancel the question</button>
    </>
  )
}
