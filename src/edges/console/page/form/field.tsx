// One field of a form: its label, what its schema says of it, and its control.

import { useContext } from 'preact/hooks'
import type { JsonObject } from '../connection/json.ts'
import { LabelText } from '../parts/label-text.tsx'
import { memo, useStable } from '../parts/memo.ts'
import { FieldProblems } from './answer-problems.ts'
import { ChoiceControl, ChoicesControl } from './choice-controls.tsx'
import { planField, toFirstValue, toItemValue, type ControlKind } from './field-kinds.ts'
import { ListControl, TupleControl } from './list-controls.tsx'
import { MapControl } from './map-control.tsx'
import { ObjectControl } from './object-control.tsx'
import type { ResolvedSchema } from './schema.ts'
import { BooleanControl, JsonControl, NumberControl, TextControl } from './simple-controls.tsx'
import { VariantsControl } from './variants-control.tsx'

export interface FieldProps {
  /** The key in its parent: the name of a property, or the index of an item. */
  readonly name: string | number
  readonly label: string
  readonly id: string
  readonly schema: ResolvedSchema
  readonly root: JsonObject
  readonly value: unknown
  readonly isRequired: boolean
  /** A value of `undefined` takes the field out of its parent. Must stay the same function. */
  readonly onChange: (name: string | number, value: unknown) => void
}

export interface ControlProps extends Omit<FieldProps, 'name' | 'onChange'> {
  readonly onValue: (value: unknown) => void
  readonly describedBy: string
  readonly isInvalid?: boolean
}

/** These have fields of their own, and are a group with a label. */
const GROUPED = new Set<ControlKind['kind']>(['object', 'map', 'list', 'tuple', 'choices', 'variants'])

export const Field = memo((props: FieldProps) => {
  const { name, label, id, schema, root, value, isRequired, onChange } = props
  const { field, isNullable, schema: plain } = planField(schema, root)
  const onValue = useStable((next: unknown) => onChange(name, next))
  const describedBy = `${id}-about`
  const problem = useContext(FieldProblems)[id]
  const isInvalid = problem !== undefined
  const isGroup = GROUPED.has(field.kind)
  const isLeftOut = value === undefined && isGroup && field.kind !== 'choices'
  const head = (
    <Head
      {...props} isNullable={isNullable} isGroup={isGroup} isLeftOut={isLeftOut}
      onLeaveOut={() => onValue(undefined)}
      onPutIn={() => onValue(toFirstValue(schema, root, true) ?? toItemValue(schema, root))}
      onNull={(isNull) => onValue(isNull ? null : toFirstValue(schema, root, isRequired))}
    />
  )
  const description = schema.description ?? plain.description
  const about = <About description={description} schema={plain} id={describedBy} problem={problem} />
  const control = isLeftOut || (value === null && isNullable)
    ? null
    : (
      <Control
        {...{ field, id, label, root, value, isRequired, onValue, describedBy, isInvalid }} schema={plain}
      />
      )
  if (isFlag(field, value, isRequired)) return <div class='field flag'>{control}{head}{about}</div>
  if (!isGroup) return <div class='field'>{head}{control}{about}</div>
  return (
    <div class='field group' role='group' aria-labelledby={`${id}-label`} aria-describedby={describedBy}>
      {head}{about}{control}
    </div>
  )
})

/** Whether the field is a checkbox, which stands before its label. */
function isFlag ({ kind }: ControlKind, value: unknown, isRequired: boolean): boolean {
  return kind === 'boolean' && value !== null && (isRequired || typeof value === 'boolean')
}

interface HeadProps extends FieldProps {
  readonly isNullable: boolean
  readonly isGroup: boolean
  readonly isLeftOut: boolean
  readonly onLeaveOut: () => void
  readonly onPutIn: () => void
  readonly onNull: (isNull: boolean) => void
}

function Head (props: HeadProps) {
  const { name, label, id, value, schema, isRequired, isNullable, isGroup, isLeftOut } = props
  const text = <LabelText {...{ label, name, isRequired }} />
  const { onLeaveOut, onPutIn, onNull } = props
  return (
    <div class='head'>
      {isGroup ? <span id={`${id}-label`} class='label'>{text}</span> : <label for={id}>{text}</label>}
      {schema.deprecated === true && <span class='badge'>deprecated</span>}
      {isGroup && (!isRequired || isLeftOut) && (
        <button type='button' class='small' onClick={isLeftOut ? onPutIn : onLeaveOut}>
          {isLeftOut ? 'Add' : 'Leave out'}<span class='unseen'> {label}</span>
        </button>
      )}
      {isNullable && (
        <label class='inline'>
          <input
            type='checkbox' checked={value === null}
            onChange={(event) => onNull(event.currentTarget.checked)}
          />
          null<span class='unseen'> for {label}</span>
        </label>
      )}
    </div>
  )
}

interface AboutProps {
  readonly description: unknown
  readonly schema: ResolvedSchema
  readonly id: string
  readonly problem: string | undefined
}

/** Shows the description and the limits of a value, and what is wrong with it. */
function About ({ description, schema, id, problem }: AboutProps) {
  const limits = toLimits(schema)
  return (
    <div class='about' id={id}>
      {typeof description === 'string' && <span>{description}</span>}
      {limits !== '' && <span class='limits'>{limits}</span>}
      {problem !== undefined && <span class='bad'>{problem}</span>}
    </div>
  )
}

const RANGES = [
  ['minimum', 'maximum', ''], ['minLength', 'maxLength', ' characters'], ['minItems', 'maxItems', ' items']
] as const

const LIMITS: ReadonlyArray<readonly [keyword: string, text: (limit: string) => string]> = [
  ['exclusiveMinimum', (limit) => `more than ${limit}`],
  ['exclusiveMaximum', (limit) => `less than ${limit}`],
  ['multipleOf', (limit) => `a multiple of ${limit}`],
  ['format', (format) => format],
  ['pattern', (pattern) => `matches ${pattern}`]
]

function toLimits (schema: ResolvedSchema): string {
  const ranges = RANGES.flatMap(([min, max, unit]) => toRange(schema[min], schema[max], unit) ?? [])
  const limits = LIMITS.flatMap(([keyword, toText]) => {
    const limit = schema[keyword]
    return typeof limit === 'number' || typeof limit === 'string' ? [toText(String(limit))] : []
  })
  return [...ranges, ...limits].join(', ')
}

function toRange (min: unknown, max: unknown, unit: string): string | undefined {
  const [low, high] = [typeof min === 'number', typeof max === 'number']
  if (low && high) return `${min} to ${max}${unit}`
  if (low) return `at least ${min}${unit}`
  return high ? `at most ${max}${unit}` : undefined
}

function Control ({ field, ...props }: ControlProps & { readonly field: ControlKind }) {
  switch (field.kind) {
    case 'constant': return <ConstantControl {...props} constant={field.value} />
    case 'choice': return <ChoiceControl {...props} choices={field.choices} />
    case 'choices': return <ChoicesControl {...props} choices={field.choices} />
    case 'variants': return <VariantsControl {...props} variants={field.variants} />
    case 'text': return <TextControl {...props} />
    case 'number': return <NumberControl {...props} />
    case 'boolean': return <BooleanControl {...props} />
    case 'object': return <ObjectControl {...props} />
    case 'map': return <MapControl {...props} />
    case 'list': return <ListControl {...props} />
    case 'tuple': return <TupleControl {...props} />
    case 'json': return <JsonControl {...props} />
  }
}

/** Only one value is possible: the person chooses whether to send it. */
function ConstantControl (
  { constant, id, value, onValue, describedBy }: ControlProps & { readonly constant: unknown }
) {
  return (
    <span class='inline'>
      <input
        type='checkbox' id={id} checked={value !== undefined} aria-describedby={describedBy}
        onChange={(event) => onValue(event.currentTarget.checked ? constant : undefined)}
      />
      <code>{JSON.stringify(constant)}</code>
    </span>
  )
}
