// Why a run of a task ends without an outcome.

import { RequestCancelled } from '../request/pipeline/lifetime.ts'

/** The task was cancelled, has expired, or runs on another replica. Its run here has no outcome. */
export class TaskLost extends RequestCancelled {
  constructor () {
    super()
    this.message = 'The task does not run on this replica any more'
  }
}

/** A limit refuses the run for now. The task runs later. */
export class TaskDeferred extends RequestCancelled {}
