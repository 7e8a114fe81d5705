// A row of the table of transitions, and what several rows need.

import type { TaskEvent } from './events.ts'
import type { TaskPhase, TaskRecord } from '../records/record.ts'
import { formOf } from '../records/task-bytes.ts'

type EventType = TaskEvent['type']
type EventOf<E extends EventType> = Extract<TaskEvent, { type: E }>

interface RowFacts {
  readonly from: readonly TaskPhase[]
  readonly on: EventType
  /** The condition, for the picture in the documentation. */
  readonly when?: string
  readonly to: TaskPhase
  /** Whether the due time stays as it is. */
  readonly isQuiet?: boolean
}

/** A row for one event. Its functions are methods, so that it is a row for any event too. */
interface Row<E extends EventType> extends RowFacts {
  readonly on: E
  holds? (record: TaskRecord, event: EventOf<E>, now: number): boolean
  /** Absent if nothing is written. */
  change? (record: TaskRecord, event: EventOf<E>, now: number): Partial<TaskRecord>
}

/** A row of the table. The first one that fits an event decides. */
export interface TransitionRow extends RowFacts {
  holds? (record: TaskRecord, event: TaskEvent, now: number): boolean
  change? (record: TaskRecord, event: TaskEvent, now: number): Partial<TaskRecord>
}

/** After this many losses of its replica without a new step between them a task, or its `undo`, fails. */
export const MAX_LOSSES = 5
/** The pauses before a task is taken over, in milliseconds: a task that ends its replica must not end all. */
export const LOSS_PAUSES_MS = [0, 1000, 5000, 20_000]
/** The due time may come this much before the end of a sleep, in milliseconds. */
export const EARLY_MS = 100

/** Types a row by its event. */
export function row<const E extends EventType> (typed: Row<E>): TransitionRow { return typed }

/** Returns the sleeps without those that were due: they are over, whatever the clock of this replica says. */
export function endSleeps (sleeps: TaskRecord['sleeps'], wakesAt = 0): TaskRecord['sleeps'] {
  return Object.fromEntries(
    Object.entries(sleeps).map(([key, endsAt]) => [key, endsAt <= wakesAt ? 0 : endsAt])
  )
}

/** Begins a run. */
export function begin ({ relayed, run }: TaskRecord): Partial<TaskRecord> {
  return { form: formOf({ relayed }), run: run + 1, isRunning: true, wakesAt: undefined, pause: undefined }
}
