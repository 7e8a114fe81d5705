// The fields of an object, and the members that its schema does not have.

import { useMemo } from 'preact/hooks'
import { isRecord, type JsonObject } from '../connection/json.ts'
import { useStable } from '../parts/memo.ts'
import { Field, type ControlProps } from './field.tsx'
import { propertiesOf, requiredOf, resolve, type ResolvedSchema } from './schema.ts'

const NO_MEMBERS: JsonObject = {}

export function ObjectControl ({ id, schema, root, value, onValue }: ControlProps) {
  const object = isRecord(value) ? value : NO_MEMBERS
  const fields = useMemo(() => toFields(schema, root), [schema, root])
  const onChange = useStable((name: string | number, next: unknown) => {
    onValue(withMember(object, name, next))
  })
  const names = new Set(fields.map((field) => field.name))
  const strangers = Object.keys(object).filter((name) => !names.has(name))
  return (
    <div class='fields'>
      {fields.map(({ name, label, schema, isRequired }) => (
        <Field
          key={name} id={`${id}.${name}`} value={Object.hasOwn(object, name) ? object[name] : undefined}
          {...{ name, label, schema, root, isRequired, onChange }}
        />
      ))}
      {strangers.map((name) => (
        <div class='field' key={name}>
          <span><code>{name}</code> is not in the schema:</span>
          <code>{JSON.stringify(object[name])}</code>
          <button type='button' class='small' onClick={() => onChange(name, undefined)}>
            Remove<span class='unseen'> {name}</span>
          </button>
        </div>
      ))}
      {fields.length === 0 && strangers.length === 0 && <p class='faint'>No fields.</p>}
    </div>
  )
}

function toFields (schema: ResolvedSchema, root: JsonObject) {
  const required = requiredOf(schema)
  return propertiesOf(schema).map(([name, member]) => {
    const plain = resolve(member, root)
    return {
      name,
      label: typeof plain.title === 'string' ? plain.title : name,
      schema: plain,
      isRequired: required.includes(name)
    }
  })
}

/** Returns the object with another value of one member, or without it. */
export function withMember (object: JsonObject, name: string | number, value: unknown): JsonObject {
  const { [name]: before, ...members } = object
  if (value === undefined) return members
  return Object.hasOwn(object, name) ? { ...object, [name]: value } : { ...members, [name]: value }
}
