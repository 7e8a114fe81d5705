// The controls of values that a schema lists.

import type { ControlProps } from './field.tsx'
import { isSame, type FieldChoice } from './field-kinds.ts'

interface Choices { readonly choices: readonly FieldChoice[] }

/** Beyond this many choices a list to choose from is shorter than checkboxes. */
const MAX_CHECKBOXES = 40

export function ChoiceControl (
  { choices, id, value, isRequired, onValue, describedBy, isInvalid }: ControlProps & Choices
) {
  const position = choices.findIndex((choice) => isSame(choice.value, value))
  const isUnlisted = value !== undefined && position === -1
  return (
    <select
      id={id} aria-describedby={describedBy} aria-required={isRequired} aria-invalid={isInvalid}
      value={isUnlisted ? 'unlisted' : String(position)}
      onChange={(event) => onValue(choices[Number(event.currentTarget.value)]?.value)}
    >
      <option value='-1'>{isRequired ? 'Choose…' : 'not sent'}</option>
      {choices.map(({ label, description }, index) => (
        <option key={index} value={String(index)} title={description}>{label}</option>
      ))}
      {isUnlisted && <option value='unlisted'>{`${JSON.stringify(value)} (not listed)`}</option>}
    </select>
  )
}

/** Several of the choices, in the order of the schema. */
export function ChoicesControl ({ choices, id, value, isRequired, onValue }: ControlProps & Choices) {
  const values: readonly unknown[] = Array.isArray(value) ? value : []
  const has = (choice: FieldChoice) => values.some((item) => isSame(item, choice.value))
  const toggle = (choice: FieldChoice) => {
    const next = choices.filter((item) => (item === choice) !== has(item)).map((item) => item.value)
    onValue(next.length === 0 && !isRequired ? undefined : next)
  }
  return (
    <div class={choices.length > MAX_CHECKBOXES ? 'checkboxes scrolled' : 'checkboxes'}>
      {choices.map((choice, index) => (
        <label key={index} class='inline' title={choice.description}>
          <input
            id={`${id}.${index}`} type='checkbox' checked={has(choice)} onChange={() => toggle(choice)}
          />
          {choice.label}
        </label>
      ))}
    </div>
  )
}
