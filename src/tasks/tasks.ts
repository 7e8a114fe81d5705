// All tasks of the service, as its parts use them: calls begin them, methods read and change them, the
// pipeline runs them.

import { findMissingCapabilities } from '../protocol/capabilities.ts'
import { hasTasks } from '../protocol/revision-features.ts'
import { TASKS_CAPABILITY } from '../protocol/tasks.ts'
import type { RequestLog } from '../request/pipeline/caller.ts'
import type { Method } from '../request/pipeline/method.ts'
import type { Pipeline } from '../request/pipeline/pipeline.ts'
import type { TaskFollowers, TaskStarter } from '../request/pipeline/task-seam.ts'
import type { EventBus } from '../store/changes/event-bus.ts'
import type { DueTimes } from '../store/records/due-times.ts'
import type { StateStore } from '../store/records/state-store.ts'
import type { Sealer } from '../store/sealing/sealer.ts'
import { FirstTaskRun, type TaskStartDependencies } from './first-run.ts'
import { createTaskAccess } from './task-access.ts'
import { createTaskFollowers } from './task-followers.ts'
import { createTaskMethods } from './task-methods.ts'
import { createTaskRecords, type TaskKey } from './task-records.ts'
import { createTaskRunner } from './task-runner.ts'

export interface TasksOptions {
  readonly store: StateStore
  /** Seals the records of tasks. */
  readonly sealer: Sealer
  readonly dueTimes: DueTimes
  readonly bus: EventBus
  readonly log: RequestLog & { child (bindings: object): RequestLog }
  /** How many unfinished tasks one owner may have. */
  readonly maxPerOwner: number
  readonly graceMs: number
  readonly leaseMs: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Whether the catalog has tools whose calls become tasks. */
  readonly isUsed: () => boolean
}

export interface Tasks {
  readonly starter: TaskStarter
  readonly methods: readonly Method[]
  readonly followers: TaskFollowers
  /** Runs tasks through this pipeline from now on. */
  start (pipeline: Pipeline): void
  /** Looks for due tasks now. */
  look (): void
  /** Runs no further tasks. Those that run may end. */
  stopTaking (): void
  /** Waits for the last writes of the runs that have ended. */
  close (): Promise<void>
}

export function createTasks (options: TasksOptions): Tasks {
  const { store, sealer, dueTimes, bus, log, maxPerOwner, graceMs, leaseMs, now, isUsed } = options
  const records = createTaskRecords(store, { sealer, maxPerOwner })
  const underWay = new Set<Promise<void>>()
  let isClosing = false

  function announce ({ entry }: TaskKey, isOver: boolean): void {
    const published = bus.publish({ type: 'task-changed', entry, isOver })
    published.catch((err: unknown) => log.error({ err }, 'the change of a task was not announced'))
  }

  const runDependencies: TaskStartDependencies = {
    records,
    leaseMs,
    graceMs,
    now,
    announce,
    isClosing: () => isClosing,
    async setDue ({ entry }, inMs) {
      await dueTimes.set(entry, inMs)
      runner.noteDue(inMs)
    },
    removeDue: async ({ entry }) => await dueTimes.remove(entry),
    onCreate: (run) => runner.add(run),
    onEnd (run, written) {
      const ending = written.catch((err: unknown) => log.warn({ err }, 'the end of a run was not kept'))
        .finally(() => {
          runner.remove(run)
          underWay.delete(ending)
        })
      underWay.add(ending)
    }
  }
  const runner = createTaskRunner({ run: runDependencies, dueTimes, log, hasTasks: isUsed })
  const followers = createTaskFollowers(records, bus, now)
  const unsubscribe = bus.subscribe((event) => {
    if (event.type === 'task-changed' && event.isOver) runner.stop(event.entry)
  })
  return {
    starter: {
      open (request, tool, args) {
        const { revision, envelope: { clientCapabilities } } = request
        const isTaker = tool.task !== undefined && hasTasks(revision) &&
          findMissingCapabilities(TASKS_CAPABILITY, clientCapabilities) === undefined
        return isTaker ? new FirstTaskRun(runDependencies, request, tool.key, tool.task, args) : undefined
      }
    },
    methods: createTaskMethods(createTaskAccess({ ...runDependencies, runner })),
    followers,
    start: (pipeline) => runner.start(pipeline),
    look: () => runner.noteDue(0),
    stopTaking: () => runner.stopTaking(),
    async close () {
      isClosing = true
      runner.close()
      followers.close()
      unsubscribe()
      while (underWay.size > 0) await Promise.all(underWay)
    }
  }
}
