// What a retry of a failed `undo` keeps of its journal. Its code may have been mended: what it has done stays
// done, and what has failed last is tried again.

import type { OperationKind } from '../../../request/questions/input-round.ts'
import { isFailureJson, stepKeyOf } from '../../../request/questions/step-results.ts'
import type { JournalRecord } from '../records/record.ts'

/** What the journal knows of an operation. */
interface JournalFact {
  readonly kind: OperationKind
  /** The name of an attempt, for a step. */
  readonly key: string
  /** Absent for what came within a step. */
  readonly group?: number | undefined
  /** Whether it is a step that has returned. */
  readonly isDone: boolean
}

/**
 * Leaves out what the next run must come to anew: the failures and sleeps after the last step that has
 * returned. The handler has caught those before it, and gone on: it must go the same way.
 */
export function withoutUnsettled<O extends JournalFact> (operations: readonly O[]): O[] {
  const done = operations.filter(({ isDone }) => isDone)
  const last = Math.max(0, ...done.map(({ group = 0 }) => group))
  const doneKeys = new Set(done.map(({ key }) => stepKeyOf(key)))
  return operations.filter(({ kind, key, group = Infinity, isDone }) => (
    // An attempt that has failed is counted, if a later one has not.
    isDone || group < last || (kind === 'step' && doneKeys.has(stepKeyOf(key)))
  ))
}

/** Returns the journal for the next run. Its operations come in any order. */
export function toRetried ({ answers, results, sleeps, order }: JournalRecord): JournalRecord {
  const groups = new Map(order.map(({ kind, key, group }) => [`${kind} ${key}`, group]))
  const settled = withoutUnsettled([
    ...Object.entries(results).map(([key, json]) => ({
      kind: 'step' as const, key, group: groups.get(`step ${key}`), isDone: !isFailureJson(json)
    })),
    ...Object.keys(sleeps).map((key) => ({
      kind: 'sleep' as const, key, group: groups.get(`sleep ${key}`), isDone: false
    }))
  ])
  const keep = <T>(all: { readonly [key: string]: T }, operation: OperationKind) => {
    const keys = new Set(settled.flatMap(({ kind, key }) => kind === operation ? [key] : []))
    return Object.fromEntries(Object.entries(all).filter(([key]) => keys.has(key)))
  }
  return { answers, results: keep(results, 'step'), sleeps: keep(sleeps, 'sleep'), order: [] }
}
