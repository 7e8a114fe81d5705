// The order in which the handler of a task came to its steps, questions and sleeps. A later run must come to
// them again in this order: otherwise it runs other code, or code that does not do the same each time.

import { withinDeadline } from '../../../base/deadline.ts'
import {
  JournalMismatch, type OperationForms, type OperationKind
} from '../../../request/questions/input-round.ts'
import type { JournalEntry } from '../records/record.ts'

/** The bytes of an entry as JSON, without its key. */
const ENTRY_BYTES = 32

export class JournalOrder {
  readonly #entries: JournalEntry[] = []
  readonly #byName = new Map<string, JournalEntry>()
  /** The entries of earlier runs that this run has not come to. */
  readonly #missing = new Set<JournalEntry>()
  readonly #waiting = new Set<() => void>()
  #lastGroup = 0
  #running = 0
  #bytes = 0
  readonly #patienceMs: number

  /**
   * @param patienceMs how long an operation waits for those before it. Another branch of a `Promise.all` may
   *   come to them, after something that is in no journal: nobody can tell it from other code at once.
   */
  constructor (patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  get entries (): readonly JournalEntry[] { return this.#entries }
  /** The size of the entries as JSON, about. */
  get bytes (): number { return this.#bytes }

  /** Adds the entries of earlier runs. */
  restore (entries: readonly JournalEntry[]): void {
    for (const entry of entries) {
      this.#add(entry)
      this.#missing.add(entry)
    }
  }

  /**
   * Notes that the handler has come to operations that begin at the same time. Call `leave` when they have
   * ended. Returns a promise if they must wait for others, which rejects with a JournalMismatch if these do
   * not come, or if an earlier run came to operations of other forms.
   */
  enter (
    kind: OperationKind, keys: readonly string[], forms: OperationForms = []
  ): Promise<void> | undefined {
    const entries = keys.map((key) => this.#byName.get(toName(kind, key)))
    for (const [index, entry] of entries.entries()) {
      const form = forms[index]
      if (entry?.form !== undefined && entry.form !== form) return Promise.reject(toOther(entry, form))
    }
    for (const entry of entries) if (entry !== undefined) this.#missing.delete(entry)
    const group = Math.max(...entries.map((entry) => entry?.group ?? Infinity))
    for (const look of this.#waiting) look()
    if (this.#firstMissing(group) !== undefined) return this.#wait(group, kind, keys, forms)
    this.#begin(kind, keys, forms)
    return undefined
  }

  leave (): void { this.#running-- }

  /** Whether earlier runs came to the operation, and this one has not. */
  isMissing (kind: OperationKind, key: string): boolean {
    const entry = this.#byName.get(toName(kind, key))
    return entry !== undefined && this.#missing.has(entry)
  }

  /**
   * Finds the sleep without a key that the handler comes to, of those that this run has not come to: those of
   * branches may come in any order, and their lengths tell them apart. Returns its key.
   */
  findSleep (form: string | undefined): string | undefined {
    const sleeps = [...this.#missing].filter(({ kind, key }) => kind === 'sleep' && NUMBER.test(key))
    const match = sleeps.find((sleep) => sleep.form === form) ??
      sleeps.find((sleep) => sleep.form === undefined) ?? sleeps[0]
    return match?.key
  }

  /** Returns the error for a handler that ends before it has come to all that earlier runs came to. */
  findMissing (): JournalMismatch | undefined {
    const first = this.#firstMissing(Infinity)
    return first && new JournalMismatch(toOperationText(first.kind, [first.key]), 'its end')
  }

  async #wait (
    group: number, kind: OperationKind, keys: readonly string[], forms: OperationForms
  ): Promise<void> {
    await this.#waitFor(group, kind, keys)
    // Not before: what never begins must not be in the journal.
    this.#begin(kind, keys, forms)
  }

  #begin (kind: OperationKind, keys: readonly string[], forms: OperationForms): void {
    const group = this.#running > 0 ? this.#lastGroup : this.#lastGroup + 1
    for (const [index, key] of keys.entries()) {
      const form = forms[index]
      if (this.#byName.has(toName(kind, key))) continue
      this.#add({ kind, key, group, ...form !== undefined && { form } })
    }
    this.#running++
  }

  #add (entry: JournalEntry): void {
    this.#entries.push(entry)
    this.#byName.set(toName(entry.kind, entry.key), entry)
    this.#lastGroup = Math.max(this.#lastGroup, entry.group)
    this.#bytes += Buffer.byteLength(entry.key) + (entry.form?.length ?? 0) + ENTRY_BYTES
  }

  #firstMissing (beforeGroup: number): JournalEntry | undefined {
    // A set has its members in the order in which they were added.
    const [first] = this.#missing
    return first !== undefined && first.group < beforeGroup ? first : undefined
  }

  async #waitFor (group: number, kind: OperationKind, keys: readonly string[]): Promise<void> {
    let look = (): void => {}
    const coming = new Promise<void>((resolve) => {
      look = () => { if (this.#firstMissing(group) === undefined) resolve() }
    })
    this.#waiting.add(look)
    try {
      await withinDeadline(coming, this.#patienceMs, () => {
        const first = this.#firstMissing(group)
        if (first === undefined) return new Error('unreachable: nothing is missing')
        return toMismatch(first, kind, keys)
      })
    } finally {
      this.#waiting.delete(look)
    }
  }
}

/** The key of a sleep without a key. */
const NUMBER = /^\d+$/

const toName = (kind: OperationKind, key: string): string => `${kind} ${key}`

function toMismatch (first: JournalEntry, kind: OperationKind, keys: readonly string[]): JournalMismatch {
  return new JournalMismatch(toOperationText(first.kind, [first.key]), toOperationText(kind, keys))
}

function toOther ({ kind, key, form }: JournalEntry, otherForm: string | undefined): JournalMismatch {
  const toText = (detail: string | undefined) => (
    toOperationText(kind, [key]) + (detail === undefined ? '' : ` (${detail})`)
  )
  return new JournalMismatch(toText(form), toText(otherForm))
}

/** Names operations for people, such as `step "order"`. A sleep without a key has a number. */
export function toOperationText (kind: OperationKind, keys: readonly string[]): string {
  return `${WORDS[kind]} ${keys.map((key) => JSON.stringify(key)).join(', ')}`
}

const WORDS: { readonly [K in OperationKind]: string } = { step: 'step', ask: 'question', sleep: 'sleep' }
