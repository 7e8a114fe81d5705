// The recording of a task: what its handler came to, and what came of it, as one JSON document. A test can
// run other code of the tool against it.

import { isObject } from '../../../platform/protocol/json-rpc.ts'
import type { OperationKind } from '../../../request/questions/input-round.ts'
import { createReader } from '../../../platform/schema/reader.ts'
import { Type } from '../../../platform/schema/type.ts'
import { toOperationText } from './journal-order.ts'
import type { JournalRecord, TaskRecord } from '../records/record.ts'

/** The form of the recordings of this release. Add one when an earlier release would misread a recording. */
const FORM = 1

/** A step and a question may have the same key. */
export const entryName = (kind: OperationKind, key: string): string => toOperationText(kind, [key])

const optionalText = Type.Optional(Type.String())
const entryShape = Type.Object({
  kind: Type.Enum(['step', 'ask', 'sleep']),
  key: Type.String(),
  /** The kind of a question, and the length of a sleep without a key. Absent in earlier releases. */
  form: optionalText,
  /** The entries of a group ran beside each other. Absent for an entry that may come at any time. */
  group: Type.Optional(Type.Integer()),
  /**
   * `value`: a step has returned it, or a question was answered with it. `nothing`: the step has returned
   * nothing, or the sleep is over. `failure`: the step has failed. `open`: it has not ended.
   */
  outcome: Type.Enum(['value', 'nothing', 'failure', 'open']),
  value: Type.Optional(Type.Unknown()),
  failure: Type.Optional(Type.Object({ name: optionalText, message: optionalText, isTool: Type.Boolean() }))
})
const journalShape = Type.Array(entryShape)
const recordingShape = Type.Object({
  trivet: Type.String(),
  tool: Type.String(),
  fingerprint: optionalText,
  status: Type.Enum(['working', 'input_required', 'completed', 'failed', 'cancelled']),
  undo: Type.Optional(Type.Enum(['due', 'done', 'failed'])),
  /** Whether the recording has values: the arguments, the caller, results, answers, messages of failures. */
  values: Type.Boolean(),
  arguments: Type.Optional(Type.Unknown()),
  principal: Type.Optional(Type.Object({ scopes: Type.Array(Type.String()), subject: optionalText })),
  client: Type.Optional(Type.Object({ capabilities: Type.Record(Type.Unknown()) })),
  journal: journalShape,
  undoJournal: Type.Optional(journalShape)
})

/** The document is no recording that this release can read. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError'
}

const readShape = createReader(recordingShape, (problems) => {
  return new RecordingError(`This is no recording of a task: ${problems.join('; ')}`)
})

export type ReadRecording = ReturnType<typeof readShape>
export type RecordedEntry = ReadRecording['journal'][number]

/** Reads a recording. Throws a RecordingError for another document, and for one of a newer release. */
export function readRecording (document: unknown): ReadRecording {
  const form = isObject(document) ? document.recording : undefined
  if (typeof form === 'number' && form > FORM) {
    throw new RecordingError(
      `The recording has form ${form}, of a newer release of Trivet. This release reads form ${FORM}`
    )
  }
  if (form === FORM) return readShape(document)
  throw new RecordingError(
    'This is no recording of a task: pass the object that `npx trivet tasks show ID --recording` prints'
  )
}

export interface RecordingOptions {
  /** The version of Trivet that writes the recording. */
  readonly trivet: string
  /** Whether it has the values too. */
  readonly hasValues: boolean
}

/** Writes a recording. Its size is limited by that of the record. It has neither the id nor the result. */
export function toRecording (record: TaskRecord, { trivet, hasValues }: RecordingOptions): object {
  const { tool, fingerprint, status, undo, undoJournal, args, principal, client } = record
  return {
    recording: FORM,
    trivet,
    tool,
    fingerprint,
    status,
    undo,
    values: hasValues,
    ...hasValues && { arguments: args, principal, client: { capabilities: client.capabilities } },
    journal: toEntries(record, hasValues),
    undoJournal: undoJournal && toEntries(undoJournal, hasValues)
  }
}

function toEntries ({ answers, results, sleeps, order }: JournalRecord, hasValues: boolean): RecordedEntry[] {
  const named = new Set(order.map(({ kind, key }) => entryName(kind, key)))
  const unordered = [
    ...Object.keys(results).map((key) => ({ kind: 'step', key }) as const),
    ...Object.keys(answers).map((key) => ({ kind: 'ask', key }) as const),
    ...Object.keys(sleeps).map((key) => ({ kind: 'sleep', key }) as const)
  ].filter(({ kind, key }) => !named.has(entryName(kind, key)))
  return [...unordered, ...order].map((entry) => {
    const { kind, key } = entry
    if (kind === 'sleep') {
      // Sleeps of less than a second are not in the table: they wait in the process.
      const isOver = !Object.hasOwn(sleeps, key) || sleeps[key] === 0
      return { ...entry, outcome: isOver ? 'nothing' : 'open' }
    }
    const texts = kind === 'step' ? results : answers
    const json = Object.hasOwn(texts, key) ? texts[key] : undefined
    if (json === undefined) return { ...entry, outcome: 'open' }
    const parsed: unknown = JSON.parse(json)
    return { ...entry, ...kind === 'ask' ? toValue(parsed, hasValues) : toResult(parsed, hasValues) }
  })
}

type EntryOutcome = Pick<RecordedEntry, 'outcome' | 'value' | 'failure'>

function toResult (json: unknown, hasValues: boolean): EntryOutcome {
  if (Array.isArray(json)) return json.length === 0 ? { outcome: 'nothing' } : toValue(json[0], hasValues)
  const { isTool = false, name, message } = isObject(json) ? json : {}
  const words = hasValues ? { name: String(name), message: String(message) } : {}
  return { outcome: 'failure', failure: { isTool: isTool === true, ...words } }
}

function toValue (value: unknown, hasValues: boolean): EntryOutcome {
  return hasValues ? { outcome: 'value', value } : { outcome: 'value' }
}
