// A form from a JSON Schema, with a second tab for the same value as JSON.

import type { Signal } from '@preact/signals'
import { useMemo, useState } from 'preact/hooks'
import { parseTyped, toPretty, type JsonObject } from '../connection/json.ts'
import { useStable } from '../parts/memo.ts'
import { Tabs } from '../parts/tabs.tsx'
import { Field } from './field.tsx'
import { isSame, planField } from './field-kinds.ts'
import { ObjectControl } from './object-control.tsx'
import { resolve } from './schema.ts'

interface SchemaFormProps {
  /** Begins the id of each field. */
  readonly id: string
  readonly label: string
  readonly schema: JsonObject
  readonly value: Signal<unknown>
  /** Told whether the text of the JSON tab is JSON. */
  readonly onProblem: (problem: string | undefined) => void
}

export function SchemaForm ({ id, label, schema, value, onProblem }: SchemaFormProps) {
  const [tab, setTab] = useState('Form')
  const choose = (name: string) => {
    setTab(name)
    onProblem(undefined)
  }
  return (
    <Tabs id={`${id}-tabs`} label={label} names={['Form', 'JSON']} chosen={tab} onChoose={choose}>
      {tab === 'Form'
        ? <Fields id={id} label={label} schema={schema} value={value} />
        : <JsonEditor id={id} label={label} value={value} onProblem={onProblem} />}
    </Tabs>
  )
}

/** A flat object is a list of fields. Any other value is one field. */
export function Fields ({ id, label, schema, value }: Omit<SchemaFormProps, 'onProblem'>) {
  const plain = useMemo(() => resolve(schema, schema), [schema])
  const onValue = useStable((next: unknown) => { value.value = next ?? {} })
  const onChange = useStable((_: string | number, next: unknown) => onValue(next))
  const plan = planField(plain, schema)
  const common = { id, label, root: schema, value: value.value }
  return plan.field.kind === 'object'
    ? <ObjectControl {...common} schema={plan.schema} isRequired describedBy='' onValue={onValue} />
    : <Field {...common} schema={plain} name={0} isRequired onChange={onChange} />
}

type JsonEditorProps = Omit<SchemaFormProps, 'schema'>

export function JsonEditor ({ id, label, value, onProblem }: JsonEditorProps) {
  const [typed, setTyped] = useState(() => toPretty(value.value))
  const parsed = parseTyped(typed)
  const problem = 'problem' in parsed ? parsed.problem : undefined
  // The value may change elsewhere: a repeated call fills the form.
  const edited = problem !== undefined || ('value' in parsed && isSame(parsed.value, value.value))
    ? typed
    : toPretty(value.value)
  return (
    <div class='field'>
      <textarea
        id={`${id}-json`} class='code tall' rows={12} spellcheck={false} aria-label={`${label} as JSON`}
        aria-invalid={problem !== undefined} aria-describedby={`${id}-json-problem`} value={edited}
        onInput={(event) => {
          const text = event.currentTarget.value
          const next = parseTyped(text)
          setTyped(text)
          onProblem('problem' in next ? next.problem : undefined)
          if ('value' in next) value.value = next.value
        }}
      />
      <span id={`${id}-json-problem`} class='bad'>{problem}</span>
    </div>
  )
}
