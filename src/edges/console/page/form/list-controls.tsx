// The items of a list, all of one schema, and of a tuple, each of its own.

import { isRecord } from '../connection/json.ts'
import { useStable } from '../parts/memo.ts'
import { Field, type ControlProps } from './field.tsx'
import { toItemValue } from './field-kinds.ts'
import { resolve } from './schema.ts'

const NO_ITEMS: readonly unknown[] = []

export function ListControl ({ id, label, schema, root, value, onValue }: ControlProps) {
  const items: readonly unknown[] = Array.isArray(value) ? value : NO_ITEMS
  const item = resolve(schema.items, root)
  const onChange = useStable((at: string | number, next: unknown) => {
    // An item that is emptied stays: its button removes it.
    const changed = next === undefined ? null : next
    onValue(items.map((element, index) => index === at ? changed : element))
  })
  const isFull = typeof schema.maxItems === 'number' && items.length >= schema.maxItems
  return (
    <div class='items'>
      {items.map((element, index) => (
        <div class='item' key={index}>
          <Field
            name={index} label={`${label} ${index + 1}`} id={`${id}.${index}`} schema={item} root={root}
            value={element} isRequired onChange={onChange}
          />
          <button
            type='button' class='small' onClick={() => onValue(items.filter((_, at) => at !== index))}
          >
            Remove<span class='unseen'> {label} {index + 1}</span>
          </button>
        </div>
      ))}
      <button
        type='button' class='small' disabled={isFull}
        onClick={() => onValue([...items, toItemValue(item, root)])}
      >
        Add an item<span class='unseen'> to {label}</span>
      </button>
    </div>
  )
}

export function TupleControl ({ id, label, schema, root, value, onValue }: ControlProps) {
  const items: readonly unknown[] = Array.isArray(value) ? value : NO_ITEMS
  const parts: readonly unknown[] = Array.isArray(schema.prefixItems) ? schema.prefixItems : NO_ITEMS
  const onChange = useStable((at: string | number, next: unknown) => {
    onValue(parts.map((_, index) => (index === at ? next : items[index]) ?? null))
  })
  return (
    <div class='items'>
      {parts.map((part, index) => {
        const plain = isRecord(part) ? resolve(part, root) : resolve({}, root)
        const name = typeof plain.title === 'string' ? plain.title : `${label} ${index + 1}`
        return (
          <Field
            key={index} name={index} label={name} id={`${id}.${index}`} schema={plain} root={root}
            value={items[index]} isRequired onChange={onChange}
          />
        )
      })}
    </div>
  )
}
