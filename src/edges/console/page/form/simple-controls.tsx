// The controls of texts, numbers, true and false, and of values that a schema says nothing of.

import { useState } from 'preact/hooks'
import { parseTyped, toPretty } from '../connection/json.ts'
import { isIdName, suggestionsFor } from '../calls/remembered.ts'
import type { ControlProps } from './field.tsx'
import { isSame } from './field-kinds.ts'
import type { ResolvedSchema } from './schema.ts'

const INPUT_TYPES: { readonly [format: string]: 'date' | 'email' | 'url' } = {
  date: 'date', email: 'email', uri: 'url'
}

/** Texts that may be longer get a control of several lines. */
const ONE_LINE = 200

export function TextControl (
  { id, schema, value, isRequired, onValue, describedBy, isInvalid }: ControlProps
) {
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  const common = {
    id,
    'aria-describedby': describedBy,
    'aria-required': isRequired,
    'aria-invalid': isInvalid,
    value: text,
    placeholder: toPlaceholder(schema),
    // A field that is not required is not sent while it is empty.
    onInput: (event: { readonly currentTarget: { readonly value: string } }) => {
      const typed = event.currentTarget.value
      onValue(typed === '' && !isRequired ? undefined : typed)
    }
  }
  const { format, maxLength, pattern } = schema
  const name = id.slice(id.lastIndexOf('.') + 1)
  const isLong = typeof format !== 'string' && pattern === undefined && !isIdName(name) &&
    !Array.isArray(schema.examples) && !(typeof maxLength === 'number' && maxLength <= ONE_LINE)
  if (isLong) return <textarea {...common} rows={1} spellcheck={false} />
  const suggestions = suggestionsFor(name, schema)
  return (
    <>
      <input
        {...common} type={INPUT_TYPES[String(format)] ?? 'text'} autocomplete='off' spellcheck={false}
        list={suggestions.length > 0 ? `${id}-list` : undefined}
      />
      {suggestions.length > 0 && (
        <datalist id={`${id}-list`}>{suggestions.map((text) => <option key={text} value={text} />)}</datalist>
      )}
    </>
  )
}

const EXAMPLES: { readonly [format: string]: string } = {
  'date-time': '2026-07-28T09:30:00Z', time: '09:30:00Z', uuid: '00000000-0000-0000-0000-000000000000'
}

function toPlaceholder ({ examples, format }: ResolvedSchema): string {
  const [example]: readonly unknown[] = Array.isArray(examples) ? examples : []
  if (example === undefined) return EXAMPLES[String(format)] ?? ''
  return typeof example === 'string' ? example : JSON.stringify(example)
}

/** A text that is no number stays as it is typed: the service says what is wrong with it. */
export function NumberControl (
  { id, schema, value, isRequired, onValue, describedBy, isInvalid }: ControlProps
) {
  const [typed, setTyped] = useState('')
  const text = isSame(toNumber(typed), value) ? typed : value === undefined ? '' : String(value)
  return (
    <>
      <input
        id={id} type='text' inputMode={schema.type === 'integer' ? 'numeric' : 'decimal'} autocomplete='off'
        class='number' aria-describedby={describedBy} aria-required={isRequired} value={text}
        aria-invalid={isInvalid === true || typeof value === 'string'} placeholder={toPlaceholder(schema)}
        onInput={(event) => {
          setTyped(event.currentTarget.value)
          onValue(toNumber(event.currentTarget.value))
        }}
      />
      {typeof value === 'string' && <span class='bad'>This is no number.</span>}
    </>
  )
}

function toNumber (typed: string): unknown {
  const text = typed.trim()
  if (text === '') return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : typed
}

/** A flag that is not required has a third state: it is not sent. */
export function BooleanControl ({ id, value, isRequired, onValue, describedBy }: ControlProps) {
  if (isRequired || typeof value === 'boolean') {
    return (
      <>
        <input
          id={id} type='checkbox' checked={value === true} aria-describedby={describedBy}
          onChange={(event) => onValue(event.currentTarget.checked)}
        />
        {!isRequired && (
          <button type='button' class='small' onClick={() => onValue(undefined)}>Leave out</button>
        )}
      </>
    )
  }
  return (
    <select
      id={id} aria-describedby={describedBy} value=''
      onChange={(event) => onValue(event.currentTarget.value === 'true')}
    >
      <option value=''>not sent</option>
      <option value='true'>true</option>
      <option value='false'>false</option>
    </select>
  )
}

/** A value as JSON. While the text is no JSON, the last value stays. */
export function JsonControl ({ id, value, isRequired, onValue, describedBy }: ControlProps) {
  const [typed, setTyped] = useState('')
  const parsed = typed.trim() === '' ? { value: undefined } : parseTyped(typed)
  const isCurrent = 'problem' in parsed || isSame(parsed.value, value)
  const edited = isCurrent && typed !== '' ? typed : toPretty(value)
  return (
    <>
      <textarea
        id={id} class='code' rows={2} spellcheck={false} value={edited} placeholder='JSON'
        aria-describedby={describedBy} aria-required={isRequired} aria-invalid={'problem' in parsed}
        onInput={(event) => {
          const text = event.currentTarget.value
          const next = text.trim() === '' ? { value: undefined } : parseTyped(text)
          setTyped(text)
          if (!('problem' in next)) onValue(next.value)
        }}
      />
      {'problem' in parsed && <span class='bad'>{parsed.problem}</span>}
    </>
  )
}
