// Fields of text that the service completes as one types.
// https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion

import type { Signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { caller } from '../connection/caller.ts'
import { isRecord, type JsonObject } from '../connection/json.ts'
import { request } from '../connection/request.ts'
import { LabelText } from '../parts/label-text.tsx'

export interface CompletedField {
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly isRequired: boolean
}

interface CompletedFieldsProps {
  readonly fields: readonly CompletedField[]
  /** The prompt or the template, as `completion/complete` names it. */
  readonly reference: JsonObject
  readonly value: Signal<unknown>
}

const DEBOUNCE_MS = 150

export function CompletedFields ({ fields, reference, value }: CompletedFieldsProps) {
  const texts = toTexts(value.value)
  return (
    <div class='fields'>
      {fields.map((field) => (
        <CompletedInput
          key={field.name} field={field} reference={reference} texts={texts}
          onText={(text) => {
            const { [field.name]: before, ...values } = texts
            value.value = text === '' ? values : { ...values, [field.name]: text }
          }}
        />
      ))}
      {fields.length === 0 && <p class='faint'>No arguments.</p>}
    </div>
  )
}

/** Returns the members that are texts. */
export function toTexts (value: unknown): { readonly [name: string]: string } {
  if (!isRecord(value)) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, text]) => typeof text === 'string' ? [[name, text]] : [])
  )
}

interface CompletedInputProps extends Pick<CompletedFieldsProps, 'reference'> {
  readonly field: CompletedField
  readonly texts: { readonly [name: string]: string }
  readonly onText: (text: string) => void
}

function CompletedInput ({ field, reference, texts, onText }: CompletedInputProps) {
  const { name, title, description, isRequired } = field
  const [hasFocus, setFocus] = useState(false)
  const text = texts[name] ?? ''
  const id = `f.${name}`
  const values = useCompletion(hasFocus, reference, name, texts)
  return (
    <div class='field'>
      <div class='head'>
        <label for={id}><LabelText label={title ?? name} name={name} isRequired={isRequired} /></label>
      </div>
      <input
        id={id} type='text' list={`${id}-list`} autocomplete='off' spellcheck={false} value={text}
        aria-required={isRequired} aria-describedby={`${id}-about`}
        onFocus={() => setFocus(true)} onBlur={() => setFocus(false)}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <datalist id={`${id}-list`}>{values.map((item) => <option key={item} value={item} />)}</datalist>
      <div class='about' id={`${id}-about`}>{description}</div>
    </div>
  )
}

/** Asks for the values that fit what is typed, while the field has the focus. */
function useCompletion (
  hasFocus: boolean, ref: JsonObject, name: string, texts: { readonly [name: string]: string }
): readonly string[] {
  const [values, setValues] = useState<readonly string[]>([])
  const asCaller = caller.value
  const { [name]: value = '', ...context } = texts
  useEffect(() => {
    if (!hasFocus) return
    const abort = new AbortController()
    const timer = setTimeout(async () => {
      const params = { ref, argument: { name, value }, context: { arguments: context } }
      try {
        const { completion } = await request<{ readonly completion: { readonly values: readonly string[] } }>(
          'completion/complete', params, { caller: asCaller, signal: abort.signal }
        )
        setValues(completion.values)
      } catch {
        // A completion is an offer: without one the person types.
      }
    }, DEBOUNCE_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [hasFocus, JSON.stringify([ref, texts]), asCaller])
  return values
}
