// The composition root of tasks: calls that go on after they were answered.

import { clock as systemClock, type Clock } from '../base/time.ts'
import type { Catalog } from '../catalog/compiled/catalog.ts'
import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import type { AppConfig } from '../ops/config/config.ts'
import type { OpenedBackend } from '../store/backends/backend.ts'
import type { Sealer } from '../store/sealing/sealer.ts'
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
    now: clock.now ?? systemClock.now,
    isUsed
  })
}
