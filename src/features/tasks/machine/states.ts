// What an event does to a task: the next record, and what must be done around its write. Pure: it reads no
// clock and no store.

import { isTerminal } from '../../../platform/protocol/tasks.ts'
import type { TaskEvent } from './events.ts'
import { endOf, endOfRun, isAsleep, phaseOf, type TaskRecord } from '../records/record.ts'
import { TRANSITIONS } from './transition-table.ts'
import type { TransitionRow } from './transition-row.ts'

type DueTime = number | 'lease'

/** The rows of each event, in the order of the table. */
const ROWS = new Map<TransitionRow['on'], readonly TransitionRow[]>(TRANSITIONS.map(
  ({ on }) => [on, TRANSITIONS.filter((row) => row.on === on)]
))

/** How long after the expiry of a record its entry is removed, in milliseconds. */
const EXPIRY_MS = 60_000

/** What an event does to a task. */
export interface Transition {
  /** The next record. `undefined` if nothing is written. */
  readonly record: TaskRecord | undefined
  /**
   * When a replica must look at the task: at a time, or within a lease. `undefined`: as before. A task that
   * has ended is due when its record has expired: until then operators see it in the table of due times.
   */
  readonly due: DueTime | undefined
  /**
   * Whether the task must be due within a lease before the record is written. The next due time is sooner
   * than the present one, or the task ends while nobody runs it: a replica that dies after the write must not
   * leave the task to the later time.
   */
  readonly isHeld: boolean
  /** Whether the handler runs now, here. */
  readonly isClaimed: boolean
  /** Whether the followers of the task are told its status. */
  readonly isTold: boolean
}

/**
 * Returns what the event does, or `undefined` if it changes nothing in the present phase.
 * @param now milliseconds since the epoch, by the clock of the store.
 */
export function findTransition (record: TaskRecord, event: TaskEvent, now: number): Transition | undefined {
  if ('run' in event && event.run !== record.run) return undefined
  const phase = phaseOf(record)
  const match = ROWS.get(event.type)?.find(({ from, holds }) => (
    from.includes(phase) && holds?.(record, event, now) !== false
  ))
  if (match === undefined) return undefined
  const change = match.change?.(record, event, now)
  // Clients see no change of an ended task.
  const updatedAt = isTerminal(record.status) ? record.updatedAt : now
  const changed = { ...record, ...change, updatedAt }
  const isClaimed = changed.isRunning && changed.run > record.run
  const next = change === undefined
    ? record
    : withoutUnusedTokens(isClaimed ? { ...changed, claimedAt: now } : changed)
  const due = match.isQuiet === true ? undefined : dueOf(next, now)
  // The event `due` holds the entry for a lease already.
  const endsAtRest = !record.isRunning && event.type !== 'due' && next.status !== record.status &&
    isTerminal(next.status)
  return {
    record: change && next,
    due,
    isHeld: due === 'lease' || endsAtRest || (typeof due === 'number' && due < Number(dueOf(record, now))),
    isClaimed,
    isTold: next.status !== record.status || mayBeUntold(record, event)
  }
}

/** Tokens of the caller are kept for as long as a handler may run. */
function withoutUnusedTokens ({ upstreamTokens, ...record }: TaskRecord): TaskRecord {
  if (upstreamTokens === undefined || (phaseOf(record) === 'over' && record.undo !== 'due')) return record
  return { ...record, upstreamTokens }
}

/** Whether the replica that wrote the status may have been lost before it told of it. */
function mayBeUntold (record: TaskRecord, event: TaskEvent): boolean {
  if (event.type !== 'due' || event.isHere) return false
  return phaseOf(record) !== 'waiting' || !isAsleep(record)
}

/** A record that is running is never due beyond a lease. */
function dueOf (record: TaskRecord, now: number): DueTime {
  switch (phaseOf(record)) {
    case 'running': case 'undoing': return 'lease'
    case 'waiting': case 'asking': return Math.min(record.wakesAt ?? Infinity, endOfRun(record))
    case 'over':
      if (record.undo !== 'due') return Math.max(endOf(record), now) + EXPIRY_MS
      return record.wakesAt === undefined ? 'lease' : Math.min(record.wakesAt, endOfRun(record))
  }
}
