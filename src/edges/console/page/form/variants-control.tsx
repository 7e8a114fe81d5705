// A value that has one of several schemas: the person chooses which.

import { useState } from 'preact/hooks'
import { useStable } from '../parts/memo.ts'
import { Field, type ControlProps } from './field.tsx'
import { ObjectControl } from './object-control.tsx'
import { looksLike, planField, toFirstValue, toItemValue, type Variant } from './field-kinds.ts'

export function VariantsControl (
  { variants, id, label, root, value, isRequired, onValue }: ControlProps & { variants: readonly Variant[] }
) {
  const [picked, setPicked] = useState(() => Math.max(0, findVariant(variants)))
  function findVariant (among: readonly Variant[]): number {
    return among.findIndex(({ schema }) => looksLike(value, schema, root))
  }
  const current = variants[picked]
  // The value may have come from elsewhere, such as the tab with JSON.
  const fits = current !== undefined && looksLike(value, current.schema, root)
  const index = fits || findVariant(variants) === -1 ? picked : findVariant(variants)
  const variant = variants[index]
  const onChange = useStable((_: string | number, next: unknown) => onValue(next))
  return (
    <div class='fields'>
      <select
        aria-label={`Variant of ${label}`} value={String(index)}
        onChange={(event) => {
          const next = Number(event.currentTarget.value)
          const { schema } = variants[next] ?? { schema: {} }
          setPicked(next)
          onValue(toFirstValue(schema, root, true) ?? toItemValue(schema, root))
        }}
      >
        {variants.map((variant, at) => <option key={at} value={String(at)}>{variant.label}</option>)}
      </select>
      {variant !== undefined && (planField(variant.schema, root).field.kind === 'object'
        ? (
          <ObjectControl
            key={index} label={variant.label} id={`${id}.${index}`} schema={variant.schema}
            isRequired describedBy='' {...{ root, value, onValue }}
          />
          )
        : (
          <Field
            key={index} name={index} label={variant.label} id={`${id}.${index}`} schema={variant.schema}
            isRequired={isRequired || value !== undefined} {...{ root, value, onChange }}
          />
          )
      )}
    </div>
  )
}
