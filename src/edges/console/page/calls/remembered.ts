// Ids that results had, to suggest them for fields of the same name. Kept for the tab.

import { signal } from '@preact/signals'
import type { ResolvedSchema } from '../form/schema.ts'
import { isRecord } from '../connection/json.ts'
import { keepInTab, readOfTab } from '../connection/tab-storage.ts'

/** An id in a result, such as that of a handle. */
export interface FoundId { readonly name: string, readonly value: string }

const MAX_VALUES = 10
const MAX_FOUND = 20
const MAX_DEPTH = 4
const MAX_LENGTH = 300

const ID_NAME = /(?:^id|Id|_id|ID|[hH]andle)$/

/** The latest values of each name, the newest first. */
const valuesByName = signal<{ readonly [name: string]: readonly string[] }>(readValues(readOfTab('ids')))

function readValues (stored: unknown): { [name: string]: readonly string[] } {
  if (!isRecord(stored)) return {}
  return Object.fromEntries(Object.entries(stored).map(
    ([name, values]) => [name, Array.isArray(values) ? values.map(String) : []]
  ))
}

/** Finds the ids that structured content has, each once. */
export function findIds (value: unknown, depth = 0): FoundId[] {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return []
  const ids = Object.entries(value).flatMap(([name, member]) => {
    if (!ID_NAME.test(name) || typeof member !== 'string') return findIds(member, depth + 1)
    return member === '' || member.length > MAX_LENGTH ? [] : [{ name, value: member }]
  })
  const unique = new Map(ids.map((id) => [`${id.name} ${id.value}`, id]))
  return [...unique.values()].slice(0, MAX_FOUND)
}

export function rememberIds (ids: readonly FoundId[]): void {
  if (ids.length === 0) return
  const next = { ...valuesByName.value }
  for (const { name, value } of ids.toReversed()) {
    next[name] = [...new Set([value, ...next[name] ?? []])].slice(0, MAX_VALUES)
  }
  valuesByName.value = next
  keepInTab('ids', next)
}

export function isIdName (name: string): boolean { return ID_NAME.test(name) }

/** Returns texts that a field may have: the examples of its schema, and ids of earlier results. */
export function suggestionsFor (name: string, { examples }: ResolvedSchema): readonly string[] {
  const texts = Array.isArray(examples) ? examples.filter((example) => typeof example === 'string') : []
  return isIdName(name) ? [...new Set([...valuesByName.value[name] ?? [], ...texts])] : texts
}
