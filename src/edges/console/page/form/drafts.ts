// What the person has typed for each primitive. It stays when the catalog changes, and when another primitive
// is selected.

import { signal, type Signal } from '@preact/signals'
import { isRecord, type JsonObject } from '../connection/json.ts'
import { keepInTab, readOfTab } from '../connection/tab-storage.ts'
import { isSame, toFirstValue } from './field-kinds.ts'
import { resolve } from './schema.ts'

interface Draft {
  readonly value: Signal<unknown>
  /** What the form began with. */
  first: unknown
}

const drafts = new Map<string, Draft>()

/** The most characters of JSON. A larger draft is lost when the page is loaded again. */
const MAX_KEPT_CHARS = 100_000

const stored = readOfTab('drafts')

addEventListener('pagehide', () => {
  const texts = [...drafts].map(([key, { value }]) => [key, value.peek()] as const)
  const small = texts.filter(([, value]) => JSON.stringify(value).length <= MAX_KEPT_CHARS)
  keepInTab('drafts', { ...isRecord(stored) && stored, ...Object.fromEntries(small) })
})

/** Returns the arguments of a primitive. Those that nobody has touched follow the defaults of the schema. */
export function openDraft (key: string, schema: JsonObject): Signal<unknown> {
  const first = toFirstValue(resolve(schema, schema), schema, true) ?? {}
  const draft = drafts.get(key)
  if (draft === undefined) {
    const before = isRecord(stored) ? stored[key] : undefined
    const value = signal(before ?? first)
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
