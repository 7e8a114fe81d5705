// The members of an object whose names the person chooses.

import { useState } from 'preact/hooks'
import { isRecord, type JsonObject } from '../connection/json.ts'
import { useStable } from '../parts/memo.ts'
import { Field, type ControlProps } from './field.tsx'
import { toItemValue } from './field-kinds.ts'
import { withMember } from './object-control.tsx'
import { resolve } from './schema.ts'

const NO_MEMBERS: JsonObject = {}

export function MapControl ({ id, label, schema, root, value, onValue }: ControlProps) {
  const [newName, setNewName] = useState('')
  const object = isRecord(value) ? value : NO_MEMBERS
  const member = resolve(schema.additionalProperties, root)
  const onChange = useStable((name: string | number, next: unknown) => {
    onValue(withMember(object, name, next))
  })
  const add = () => {
    if (newName === '' || Object.hasOwn(object, newName)) return
    onChange(newName, toItemValue(member, root))
    setNewName('')
  }
  return (
    <div class='items'>
      {Object.entries(object).map(([name, entry]) => (
        <div class='item' key={name}>
          <Field
            label={name} id={`${id}.${name}`} schema={member} value={entry} isRequired
            {...{ name, root, onChange }}
          />
          <button type='button' class='small' onClick={() => onChange(name, undefined)}>
            Remove<span class='unseen'> {name}</span>
          </button>
        </div>
      ))}
      <div class='row'>
        <input
          type='text' aria-label={`Name of a new member of ${label}`} placeholder='name' value={newName}
          onInput={(event) => setNewName(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return
            event.preventDefault()
            add()
          }}
        />
        <button type='button' class='small' onClick={add}>Add<span class='unseen'> to {label}</span></button>
      </div>
    </div>
  )
}
