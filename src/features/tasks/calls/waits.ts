// Lets requests wait for tasks, wherever these run.

import type { RequestContext } from '../../../request/pipeline/request-context.ts'
import { StoreUnavailable } from '../../../platform/store/records/state-store.ts'
import type { SeenTask, TaskAccess } from '../clients/access.ts'
import { CallWait } from './wait.ts'
import { phaseOf, type TaskPhase } from '../records/record.ts'
import type { TaskKey } from '../records/records.ts'
import type { TaskWatches } from '../runs/watches.ts'

export interface CallWaitsDependencies {
  readonly access: TaskAccess
  readonly watches: TaskWatches
  /** Whether the handler of the task runs on this replica. */
  isHere (entry: string): boolean
}

/** How often a request looks at its task: a change may have been missed. In milliseconds. */
const LOOK_MS = 5000
/** The same while the store is away. */
const AWAY_MS = 500
/** The same if its client wants to know the progress, of which other replicas do not tell. */
const PROGRESS_MS = 1000

export class CallWaits {
  readonly #dependencies: CallWaitsDependencies
  /** The waits in progress, with the entries of their tasks. */
  readonly #waits = new Map<CallWait, string>()
  #isClosing = false

  constructor (dependencies: CallWaitsDependencies) {
    this.#dependencies = dependencies
  }

  /** Ends the waits for tasks that do not run here, now and from now on: the service is closing. */
  stop (): void {
    this.#isClosing = true
    for (const [wait, entry] of this.#waits) if (!this.#dependencies.isHere(entry)) wait.end()
  }

  /**
   * Resolves to the task when it has reached one of the phases, or after this time. Rejects if the request is
   * stopped, and if its caller may not see the task.
   */
  async waitFor (
    request: RequestContext, key: TaskKey, ms: number, phases: readonly TaskPhase[]
  ): Promise<SeenTask> {
    const { watches } = this.#dependencies
    const wait = new CallWait(watches, key.entry, request, ms)
    this.#waits.set(wait, key.entry)
    try {
      return await this.#waitIn(wait, request, key, phases)
    } finally {
      wait.end()
      this.#waits.delete(wait)
    }
  }

  async #waitIn (
    wait: CallWait, request: RequestContext, key: TaskKey, phases: readonly TaskPhase[]
  ): Promise<SeenTask> {
    const { access, isHere } = this.#dependencies
    const lookMs = request.envelope.progressToken === undefined ? LOOK_MS : PROGRESS_MS
    for (;;) {
      const task = await access.see(request.principal, key.id).catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable) || wait.isOver || this.#isClosing) throw error
      })
      request.lifetime.throwIfStopped()
      if (task === undefined) {
        await wait.next(AWAY_MS)
        continue
      }
      const { record } = task
      if (phases.includes(phaseOf(record)) || wait.isOver) return task
      const isElsewhere = !isHere(key.entry)
      if (this.#isClosing && isElsewhere) return task
      wait.noteStatus(record, isElsewhere)
      await wait.next(lookMs)
      request.lifetime.throwIfStopped()
    }
  }
}
