// Hands tasks over to the replicas that have their code: those of tools with `onDeploy: 'fail'` whose code
// has changed here. Each look that leaves such a task offers it. A replica with its code takes it at once.

import type { CompiledTool } from '../../../catalog/compiled/compiled-primitive.ts'
import type { Snapshot } from '../../../catalog/compiled/snapshot.ts'
import { clock } from '../../../base/time.ts'
import type { Broadcast } from '../../../platform/store/changes/broadcast.ts'
import type { StoreClock } from '../../../platform/store/records/due-times.ts'
import { findChangedTool, type TaskRecord } from '../records/record.ts'
import { keyFrom, type TaskKey } from '../records/records.ts'

export interface HandoverDependencies {
  readonly broadcast: Pick<Broadcast, 'send' | 'listen'>
  readonly storeClock: StoreClock
  readonly leaseMs: number
  /** The present state of the catalog. */
  snapshot (): Snapshot
}

/** The type of the message between replicas. */
const OFFERED = 'task-offered'
/** How long a task is left to replicas with its code, in leases. An offer may be lost: they also look. */
const LEASES = 2

export class Handovers {
  readonly #dependencies: HandoverDependencies

  constructor (dependencies: HandoverDependencies) {
    this.#dependencies = dependencies
  }

  /** Finds the tool of the task if its code here is not that of the task. */
  findChanged (record: TaskRecord): CompiledTool | undefined {
    return findChangedTool(record, this.#dependencies.snapshot().primitives.tools)
  }

  /** Whether the code of the tool has changed since the task began, and must not go on with its work. */
  mustLeave (record: TaskRecord): boolean {
    return this.findChanged(record)?.task?.mayGoOnChanged === false
  }

  /**
   * Whether replicas with the code of the task could take it.
   * @param steadySince since when this replica has looked without an outage or a pause, monotonic.
   */
  hadTime ({ undo, wakesAt = 0, updatedAt }: TaskRecord, steadySince: number): boolean {
    const { storeClock, leaseMs } = this.#dependencies
    // The first run of `undo` has no time: it follows the end of the task, after which nothing is an update.
    const dueAt = undo === undefined ? wakesAt : Math.max(wakesAt, updatedAt)
    const ms = LEASES * leaseMs
    return storeClock.now() - dueAt >= ms && clock.monotonic() - steadySince >= ms
  }

  /** Offers the task to all replicas. If the message is lost, the next look offers it again. */
  offer ({ entry }: TaskKey, { tool, fingerprint }: TaskRecord): void {
    this.#dependencies.broadcast.send({ type: OFFERED, entry, tool, fingerprint }).catch(() => {})
  }

  /** Calls the listener with each offered task whose code this replica has. Returns what ends that. */
  onOffer (listener: (key: TaskKey) => void): () => void {
    const { broadcast, snapshot } = this.#dependencies
    return broadcast.listen(({ type, entry, tool, fingerprint }) => {
      if (type !== OFFERED || typeof entry !== 'string' || typeof fingerprint !== 'string') return
      const { tools } = snapshot().primitives
      const hasCode = tools.some(({ key, task }) => key === tool && task?.fingerprint === fingerprint)
      if (hasCode) listener(keyFrom(entry))
    })
  }
}
