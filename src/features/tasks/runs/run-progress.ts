// What the client of a task is told of the progress of its runs. It never goes back: a run that comes to what
// an earlier one has told is silent until it is beyond that.

import { clock } from '../../../base/time.ts'
import type { Progress } from '../../../platform/protocol/notifications.ts'
import type { TaskRecord } from '../records/record.ts'
import { toStatusMessage } from './watches.ts'

type ProgressMembers = Pick<TaskRecord, 'statusMessage' | 'progress'>

/** The shortest time between two writes of progress, in milliseconds. */
const WRITE_MS = 1000

export class RunProgress {
  #members: ProgressMembers
  readonly #isUndo: boolean
  #writtenAt = -Infinity

  constructor ({ statusMessage, progress, undo }: TaskRecord) {
    this.#members = { statusMessage, progress }
    this.#isUndo = undo !== undefined
  }

  /** What the next write has. */
  get members (): ProgressMembers { return this.#members }

  /** Returns whether it is told: no earlier run has told it. The client sees nothing of `undo`. */
  take (report: Progress): boolean {
    const { progress = -Infinity } = this.#members
    if (this.#isUndo || report.progress <= progress) return false
    this.#members = { statusMessage: toStatusMessage(report), progress: report.progress }
    return true
  }

  /** Returns whether a write is due. Each other write of the run has the progress too. */
  isWriteDue (): boolean {
    const now = clock.monotonic()
    if (now < this.#writtenAt + WRITE_MS) return false
    this.#writtenAt = now
    return true
  }
}
