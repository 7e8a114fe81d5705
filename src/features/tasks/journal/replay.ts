// Runs the handler of a tool against a recording, with the journal of tasks. The run ends where the recording
// ends: no step is done, nobody is asked, and nothing sleeps.

import { clock, timers, type Timer } from '../../../base/time.ts'
import { toError } from '../../../base/words.ts'
import { LimitReached } from '../../../platform/protocol/errors.ts'
import { RequestCancelled, type Lifetime } from '../../../request/pipeline/lifetime.ts'
import type { ToolRun, ToolRuns } from '../../../request/pipeline/seams.ts'
import {
  JournalMismatch, type OperationForms, type OperationKind
} from '../../../request/questions/input-round.ts'
import { findLastAttempt, fromResultJson } from '../../../request/questions/step-results.ts'
import { TaskJournal } from './journal.ts'
import { toOperationText } from './journal-order.ts'
import type { JournalEntry, JournalRecord } from '../records/record.ts'
import { entryName, type ReadRecording, type RecordedEntry } from './recording.ts'
import { withoutUnsettled } from './retried-journal.ts'

/** How a replay ended. */
export interface ReplayEnd {
  /** `undefined`: the recording lacks something. */
  readonly fits: boolean | undefined
  /** How many recorded entries the handler came to. */
  readonly reached: number
  /** The first difference. */
  readonly mismatch?: { readonly expected: string, readonly came: string }
  /** What the handler threw, or what ended it. */
  readonly error?: Error
  /** The entry whose value the handler has read, or whose end it waits for. */
  readonly lacks?: string
}

/** How long an operation waits for recorded ones of other branches, in milliseconds. */
const PATIENCE_MS = 1000
/** How long the other branches may take for their next operation once one is where the recording ends. */
const GRACE_MS = 500

const NEVER = new Promise<never>(() => {})

/** Ends the handler. */
class ReplayOver extends RequestCancelled {
  constructor () {
    super()
    this.message = 'The replay of the recording is over. Do not catch this rejection.'
  }
}

class ReplayJournal extends TaskJournal {
  readonly #entries: ReadonlyMap<string, RecordedEntry>
  /** The entries that the handler has not come to, of those that have an order. */
  readonly #missing: Set<string>
  readonly #total: number
  readonly #onEnd: (end: ReplayEnd) => void
  /** The operation at which a branch has come to the end of the recording. */
  #last: string | undefined
  #isOver = false
  #grace: Timer | undefined
  /** Ends the handler, by a rejection of the last operation: it does not wait for an earlier one. */
  #rejectLast = (): void => {}

  /** @param onEnd called once. */
  constructor (entries: readonly RecordedEntry[], onEnd: (end: ReplayEnd) => void) {
    super(Infinity, clock.now)
    this.#entries = new Map(entries.map((entry) => [entryName(entry.kind, entry.key), entry]))
    this.#missing = new Set(entries.flatMap(({ kind, key, group }) => (
      group === undefined ? [] : [entryName(kind, key)]
    )))
    this.#total = this.#missing.size
    this.#onEnd = onEnd
    this.adopt({
      patienceMs: PATIENCE_MS,
      onMismatch: (error) => {
        if (error instanceof JournalMismatch) this.#end({ fits: false, mismatch: toWords(error) })
      }
    })
    this.restore(toJournalRecord(entries))
  }

  override enter (
    kind: OperationKind, keys: readonly string[], forms?: OperationForms
  ): Promise<void> | undefined {
    // The handler may catch the end, and begin again. It waits here.
    if (this.#isOver) return NEVER
    const entering = super.enter(kind, keys, forms)
    const names = keys.map((key) => entryName(kind, key))
    for (const name of names) this.#missing.delete(name)
    const open = names.find((name) => (this.#entries.get(name)?.outcome ?? 'open') === 'open')
    if (open !== undefined) return this.#stay(open, entering)
    if (this.#last !== undefined) this.#waitForOthers(this.#last)
    return entering
  }

  /** Stays at an operation that has not ended in the recording, or is not in it. Other branches go on. */
  async #stay (name: string, entering: Promise<void> | undefined): Promise<never> {
    if (entering !== undefined) await entering
    return await new Promise<never>((_resolve, reject) => {
      this.#last = name
      this.#rejectLast = () => reject(new ReplayOver())
      this.#waitForOthers(name)
    })
  }

  #waitForOthers (last: string): void {
    const end = (difference: Pick<ReplayEnd, 'fits' | 'lacks'>) => {
      this.#end(difference)
      this.#rejectLast()
    }
    timers.clear(this.#grace)
    if (this.#missing.size === 0) end({ fits: true })
    else this.#grace = timers.setTimeout(() => end({ fits: undefined, lacks: last }), GRACE_MS)
  }

  /** The recorded answer does not fit the question, or there is none: a task would ask. */
  override ask (key: string): void {
    this.#end(this.#missing.size === 0 ? { fits: true } : { fits: undefined, lacks: entryName('ask', key) })
    throw new ReplayOver()
  }

  /** No step is done, also not for a document that lacks what a recording has. */
  override async runStep<T> (key: string): Promise<T> { return this.#endLacking({ kind: 'step', key }) }

  override finish (): void {
    const mismatch = this.#findMissing()
    this.#end(mismatch === undefined ? { fits: true } : { fits: false, mismatch: toWords(mismatch) })
  }

  /** Ends the replay: the handler has come to what the service refuses. */
  refuse (came: string): void {
    this.#end({ fits: false, mismatch: { expected: 'no question', came } })
  }

  /** Ends the replay: the handler has thrown, or was stopped. */
  fail (error: unknown): void {
    const missing = this.#findMissing()
    this.#end({
      fits: missing === undefined,
      ...missing && { mismatch: { expected: missing.expected, came: 'an error' } },
      error: toError(error)
    })
  }

  standIn (kind: 'step' | 'ask', key: string): { readonly value: unknown } | undefined {
    const entry = this.#entries.get(entryName(kind, key))
    if (entry === undefined) return undefined
    const { outcome, failure } = entry
    if (outcome === 'value' && !('value' in entry)) return { value: this.#toStandIn(entry) }
    if (failure !== undefined && failure.message === undefined) throw this.#toFailure(entry, failure.isTool)
    return undefined
  }

  /** Returns the result of a step, for `undo` of the recorded task. */
  resultOf (key: string): unknown {
    const steps = [...this.#entries.values()].filter(({ kind }) => kind === 'step')
    const last = findLastAttempt(Object.fromEntries(steps.map((entry) => [entry.key, entry])), key)
    if (last?.outcome !== 'value') return undefined
    return 'value' in last ? structuredClone(last.value) : this.#toStandIn(last)
  }

  /** Makes a value that may be passed on, and not be read. A promise of it reads `then`. */
  #toStandIn (entry: RecordedEntry): object {
    const read = () => this.#endLacking(entry)
    return new Proxy({}, {
      get: (_, name) => name === 'then' ? undefined : read(),
      has: (_, name) => name === 'then' ? false : read(),
      ownKeys: read,
      getOwnPropertyDescriptor: read,
      getPrototypeOf: read
    })
  }

  /** Makes an error of the recorded kind. Its name and its message may not be read. */
  #toFailure (entry: RecordedEntry, isTool: boolean): unknown {
    try {
      return fromResultJson(JSON.stringify({ isTool }))
    } catch (error) {
      const get = () => this.#isOver ? 'not in the recording' : this.#endLacking(entry)
      return Object.defineProperties(error, { name: { get }, message: { get } })
    }
  }

  #endLacking ({ kind, key }: Pick<RecordedEntry, 'kind' | 'key'>): never {
    this.#end({ fits: undefined, lacks: entryName(kind, key) })
    throw new ReplayOver()
  }

  #findMissing (): JournalMismatch | undefined {
    try {
      super.finish()
      return undefined
    } catch (error) {
      if (error instanceof JournalMismatch) return error
      throw error
    }
  }

  #end (end: Omit<ReplayEnd, 'reached'>): void {
    if (this.#isOver) return
    this.#isOver = true
    timers.clear(this.#grace)
    this.#onEnd({ ...end, reached: this.#total - this.#missing.size })
  }
}

class UndoReplayJournal extends ReplayJournal {
  override enter (
    kind: OperationKind, keys: readonly string[], forms?: OperationForms
  ): Promise<void> | undefined {
    if (kind === 'ask') this.refuse(toOperationText(kind, keys))
    return super.enter(kind, keys, forms)
  }
}

/** A failed `undo` runs again only by a retry. */
function toUndoEntries (undo: string, entries: readonly RecordedEntry[]): readonly RecordedEntry[] {
  if (undo !== 'failed') return entries
  const operations = entries.map((entry) => ({
    ...entry,
    isDone: entry.kind === 'step' && (entry.outcome === 'value' || entry.outcome === 'nothing')
  }))
  return withoutUnsettled(operations).map(({ isDone, group, ...entry }) => entry)
}

const toWords = ({ expected, came }: JournalMismatch) => ({ expected, came })

/** Returns the journal of the values that the recording has. */
function toJournalRecord (entries: readonly RecordedEntry[]): JournalRecord {
  const textsOf = (kind: OperationKind, toText: (entry: RecordedEntry) => string | undefined) => {
    return Object.fromEntries(entries.flatMap((entry) => {
      const text = entry.kind === kind ? toText(entry) : undefined
      return text === undefined ? [] : [[entry.key, text]]
    }))
  }
  return {
    answers: textsOf('ask', (entry) => 'value' in entry ? JSON.stringify(entry.value) : undefined),
    results: textsOf('step', (entry) => {
      const { outcome, failure } = entry
      if ('value' in entry) return JSON.stringify([entry.value])
      if (outcome === 'nothing') return '[]'
      return failure?.message === undefined ? undefined : JSON.stringify(failure)
    }),
    // All that are over: each passes at once.
    sleeps: Object.fromEntries(entries.flatMap(({ kind, key, outcome }) => (
      kind === 'sleep' && outcome === 'nothing' ? [[key, 0]] : []
    ))),
    order: entries.flatMap(({ kind, key, form, group }): JournalEntry[] => (
      group === undefined ? [] : [{ kind, key, group, ...form !== undefined && { form } }]
    ))
  }
}

export interface ReplayRun extends Pick<ToolRun, 'tool' | 'args' | 'caller' | 'timeoutMs'> {
  readonly recording: ReadRecording
}

/**
 * Runs the tool against the recording: its `undo`, if the work of the recorded task was to be undone.
 * Resolves when the recording ends, or at the first difference. Rejects if the tool could not be called.
 */
export async function replayRecording (
  toolRuns: ToolRuns, { recording: { journal, undo, undoJournal = [] }, ...run }: ReplayRun
): Promise<ReplayEnd> {
  return await new Promise<ReplayEnd>((resolve, reject) => {
    let lifetime: Lifetime | undefined
    let isOver = false
    const stop = () => { if (isOver) lifetime?.stop(new ReplayOver()) }
    const onEnd = (end: ReplayEnd) => {
      isOver = true
      stop()
      resolve(end)
    }
    const steps = new ReplayJournal(journal, onEnd)
    const used = undo === undefined ? steps : new UndoReplayJournal(toUndoEntries(undo, undoJournal), onEnd)
    toolRuns.run({
      ...run,
      journal: used,
      undone: undo && { resultOf: (key) => steps.resultOf(key) },
      // A limit of calls says nothing of the code.
      onError: (error) => error instanceof LimitReached ? reject(error) : used.fail(error),
      toDeferral: () => new ReplayOver(),
      outlet: {
        onPending (pending) {
          lifetime = pending
          stop()
        },
        notify () {},
        progress () {},
        // Without an effect after the end of the replay.
        succeed: () => used.finish(),
        fail: reject,
        leaveUnanswered () {},
        openStream () { throw new TypeError('a replay has no stream') }
      }
    })
  })
}
