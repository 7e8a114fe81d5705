// The ends of a task.

import type { ProtocolError } from '../../../platform/protocol/errors.ts'
import type { TaskRecord } from '../records/record.ts'

/** The new number refuses all later writes of the run. */
export function end ({ run }: TaskRecord, change: Partial<TaskRecord>): Partial<TaskRecord> {
  return { run: run + 1, isRunning: false, wakesAt: undefined, pause: undefined, ...change }
}

export function endWithResult (record: TaskRecord, result: string): Partial<TaskRecord> {
  return end(record, { status: 'completed', statusMessage: undefined, result })
}

export function fail (record: TaskRecord, { code, message, data }: ProtocolError): Partial<TaskRecord> {
  return {
    ...end(record, {
      status: 'failed', statusMessage: message, error: JSON.stringify({ code, message, data })
    }),
    ...toUndo(record, 0)
  }
}

/** Follows every end that is no success. @param wakesAt when `undo` runs. `undefined`: in a lease. */
export function toUndo ({ mayUndo }: TaskRecord, wakesAt: number | undefined): Partial<TaskRecord> {
  return mayUndo ? { undo: 'due', losses: 0, wakesAt } : {}
}
