// What the person has typed for each primitive. It stays when the catalog changes, and when another primitive
// is selected.

import { signal, type Signal } from '@preact/signals'
import type { JsonObject } from '../connection/json.ts'
import { isSame, toFirstValue } from './field-kinds.ts'
import { resolve } from './schema.ts'

interface Draft {
  readonly value: Signal<unknown>
  /** What the form began with. */
  first: unknown
}

const drafts = new Map<string, Draft>()

/** Returns the arguments of a primitive. Those that nobody has touched follow the defaults of the schema. */
export function openDraft (key: string, schema: JsonObject): Signal<unknown> {
  const first = toFirstValue(resolve(schema, schema), schema, true) ?? {}
  const draft = drafts.get(key)
  if (draft === undefined) {
    const value = signal(first)
    drafts.set(key, { value, first })
    return value
  }
  if (!isSame(draft.first, first)) {
    if (isSame(draft.value.peek(), draft.first)) draft.value.value = first
    draft.first = first
  }
  return draft.value
}

/** Fills the form of a primitive, before or after it was opened. */
export function fillDraft (key: string, value: unknown): void {
  const draft = drafts.get(key)
  if (draft === undefined) drafts.set(key, { value: signal(value), first: undefined })
  else draft.value.value = value
}
