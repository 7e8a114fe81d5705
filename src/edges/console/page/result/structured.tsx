// Structured content: a list of like objects as a table, anything else as a tree.

import { useState } from 'preact/hooks'
import { isRecord, type JsonObject } from '../connection/json.ts'

const FIRST_ROWS = 50
/** A browser takes seconds for more. */
const MORE_ROWS = 500
const MAX_COLUMNS = 8

export function Structured ({ value }: { readonly value: unknown }) {
  return <div class='structured'><Value value={value} label='Structured content' /></div>
}

interface ValueProps { readonly value: unknown, readonly label: string }

function Value ({ value, label }: ValueProps) {
  if (Array.isArray(value)) return <List items={value} label={label} />
  if (isRecord(value)) return <Members object={value} />
  return <Scalar value={value} />
}

function Scalar ({ value }: { readonly value: unknown }) {
  return typeof value === 'string'
    ? <span class='text'>{value === '' ? '""' : value}</span>
    : <code>{String(JSON.stringify(value))}</code>
}

function Members ({ object }: { readonly object: JsonObject }) {
  const [count, setCount] = useState(FIRST_ROWS)
  const members = Object.entries(object)
  if (members.length === 0) return <code>{'{}'}</code>
  return (
    <>
      <dl>
        {members.slice(0, count).map(([name, value]) => (
          <div key={name} class={hasMembers(value) ? 'member deep' : 'member'}>
            <dt>{name}</dt>
            <dd><Value value={value} label={name} /></dd>
          </div>
        ))}
      </dl>
      <MoreButton count={count} of={members.length} onMore={setCount} />
    </>
  )
}

interface MoreButtonProps {
  readonly count: number
  readonly of: number
  readonly onMore: (count: number) => void
}

function MoreButton ({ count, of: all, onMore }: MoreButtonProps) {
  if (count >= all) return null
  return (
    <button type='button' class='small' onClick={() => onMore(count + MORE_ROWS)}>
      {all - count <= MORE_ROWS ? `Show all ${all}` : `Show ${MORE_ROWS} more of ${all}`}
    </button>
  )
}

function hasMembers (value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

interface ListProps { readonly items: readonly unknown[], readonly label: string }

function List ({ items, label }: ListProps) {
  const [count, setCount] = useState(FIRST_ROWS)
  if (items.length === 0) return <code>[]</code>
  const rows = items.slice(0, count)
  const columns = findColumns(items)
  return (
    <>
      {columns === undefined
        ? <Items items={rows} label={label} />
        : <Table rows={rows.filter(isRecord)} columns={columns} label={label} />}
      <MoreButton count={count} of={items.length} onMore={setCount} />
    </>
  )
}

function Items ({ items, label }: ListProps) {
  return (
    <ol class='list'>
      {items.map((item, at) => <li key={at}><Value value={item} label={`${label} ${at + 1}`} /></li>)}
    </ol>
  )
}

/** Returns the members of like objects. `undefined` if the items are better shown one below the other. */
function findColumns (items: readonly unknown[]): readonly string[] | undefined {
  if (!items.every(isRecord)) return undefined
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))]
  return names.length > 0 && names.length <= MAX_COLUMNS ? names : undefined
}

interface TableProps {
  readonly rows: readonly JsonObject[]
  readonly columns: readonly string[]
  readonly label: string
}

function Table ({ rows, columns, label }: TableProps) {
  return (
    <div class='table' tabIndex={0} role='group' aria-label={label}>
      <table>
        <thead><tr>{columns.map((name) => <th key={name} scope='col'>{name}</th>)}</tr></thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {columns.map((name) => (
                <td key={name}>{name in row && <Value value={row[name]} label={name} />}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
