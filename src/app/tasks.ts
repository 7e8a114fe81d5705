// The composition root of tasks: calls that go on after they were answered.

import type { OpenedBackend } from '../backends/backend.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Snapshot } from '../catalog/snapshot.ts'
import type { AppConfig } from '../config.ts'
import type { Sealer } from '../sealing/sealer.ts'
import type { Clock } from '../state/clock.ts'
import { createTasks, type Tasks, type TasksOptions } from '../tasks/tasks.ts'

interface TasksDependencies {
  readonly backend: OpenedBackend
  readonly catalog: Catalog
  readonly log: TasksOptions['log']
  readonly clock: Clock
  readonly sealer: Sealer
}

export function openTasks (
  { maxTasks, taskGraceMs, taskLeaseMs }: AppConfig, dependencies: TasksDependencies
): Tasks {
  const { backend, catalog, log, clock, sealer } = dependencies
  const { store, dueTimes, bus } = backend
  const known = new WeakMap<Snapshot, boolean>()

  /** Once for each snapshot. */
  function isUsed (): boolean {
    const { current } = catalog
    const isUsed = known.get(current) ?? current.primitives.tools.some(({ task }) => task !== undefined)
    known.set(current, isUsed)
    return isUsed
  }

  return createTasks({
    store,
    sealer,
    dueTimes,
    bus,
    log,
    maxPerOwner: maxTasks,
    graceMs: taskGraceMs,
    leaseMs: taskLeaseMs,
    now: clock.now ?? Date.now,
    isUsed
  })
}
