// What an event does to a task: the next record, and what must be done around its write. Pure: it reads no
// clock and no store.

import { isTerminal } from '../protocol/tasks.ts'
import type { TaskEvent } from './events.ts'
import { endOfRun, phaseOf, type TaskRecord } from './record.ts'
import { TRANSITIONS } from './transition-table.ts'

type DueTime = number | 'lease' | 'never'

/** What an event does to a task. */
export interface Transition {
  /** The next record. `undefined` if nothing is written. */
  readonly record: TaskRecord | undefined
  /**
   * When a replica must look at the task: at a time, within a lease, or never again. `undefined`: as before.
   */
  readonly due: DueTime | undefined
  /**
   * Whether the task must be due within a lease before the record is written. The next due time is sooner
   * than the present one: a replica that dies after the write must not leave the task to the later time.
   */
  readonly isHeld: boolean
  /** Whether the handler runs now, here. */
  readonly isClaimed: boolean
  /** Whether the followers of the task are told. */
  readonly isTold: boolean
}

/**
 * Returns what the event does, or `undefined` if it changes nothing in the present phase.
 * @param now milliseconds since the epoch, by the clock of the store.
 */
export function findTransition (record: TaskRecord, event: TaskEvent, now: number): Transition | undefined {
  if ('run' in event && event.run !== record.run) return undefined
  const phase = phaseOf(record)
  const match = TRANSITIONS.find(({ from, on, holds }) => (
    on === event.type && from.includes(phase) && holds?.(record, event, now) !== false
  ))
  if (match === undefined) return undefined
  const change = match.change?.(record, event, now)
  // Clients see no change of an ended task.
  const updatedAt = isTerminal(record.status) ? record.updatedAt : now
  const next = change === undefined ? record : { ...record, ...change, updatedAt }
  const due = match.isQuiet === true ? undefined : dueOf(next)
  return {
    record: change && next,
    due,
    isHeld: due === 'lease' || (typeof due === 'number' && due < Number(dueOf(record))),
    isClaimed: next.isRunning && next.run > record.run,
    isTold: next.status !== record.status
  }
}

/** A record that is running is never due beyond a lease. */
function dueOf (record: TaskRecord): DueTime {
  switch (phaseOf(record)) {
    case 'running': case 'undoing': return 'lease'
    case 'waiting': case 'asking': return Math.min(record.wakesAt ?? Infinity, endOfRun(record))
    case 'over':
      if (record.undo !== 'due') return 'never'
      return record.wakesAt === undefined ? 'lease' : Math.min(record.wakesAt, endOfRun(record))
  }
}
