// The tasks of the service: calls begin them, methods read and change them, the runner continues them.

import type { Snapshot } from '../../catalog/compiled/snapshot.ts'
import type { ServedTasks } from '../../request/pipeline/served-tasks.ts'
import type { Broadcast } from '../../platform/store/changes/broadcast.ts'
import { StoreClock } from '../../platform/store/records/due-times.ts'
import type { StateStore } from '../../platform/store/records/state-store.ts'
import type { Sealer } from '../../platform/store/sealing/sealer.ts'
import { TaskAccess } from './clients/access.ts'
import { CallWaiters } from './calls/waiters.ts'
import { CallWaits } from './calls/waits.ts'
import { ContinuedCalls } from './calls/continued-calls.ts'
import type { TaskStartDependencies } from './calls/first-run.ts'
import { createTaskFollowers } from './clients/followers.ts'
import { Handovers } from './runs/handovers.ts'
import { createTaskMethods } from './clients/methods.ts'
import { openCall } from './calls/open-call.ts'
import { openRelay } from './calls/relayed-call.ts'
import { TaskOperator, type TaskOperatorDependencies } from './operators/operator.ts'
import { phaseOf } from './records/record.ts'
import { TaskRecords } from './records/records.ts'
import { TaskLost } from './runs/no-outcome.ts'
import { TaskReports, type TaskCounts } from './runs/reports.ts'
import { TaskRunner, type TaskRunnerDependencies } from './runs/runner.ts'
import { Transitions } from './machine/transitions.ts'
import { TaskWatches } from './runs/watches.ts'

export interface TasksOptions extends Pick<
  TaskRunnerDependencies,
  'dueTimes' | 'log' | 'isUsed' | 'maxRuns' | 'patienceMs' | 'upstreamTokens' | 'onMessage'
> {
  readonly store: StateStore
  /** Seals the records of tasks. */
  readonly sealer: Sealer
  readonly broadcast: Broadcast
  /** How many unfinished tasks one owner may have. */
  readonly maxPerOwner: number
  /** The most tasks that the streams of this replica follow. */
  readonly maxFollowed?: number | undefined
  readonly graceMs: number
  /** The time in which nobody reads a question, in milliseconds. */
  readonly readingMs: number
  /** How long a request without tasks waits for its call, in milliseconds. */
  readonly waitMs: number
  readonly leaseMs: number
  /** Milliseconds since the epoch, by the clock of this replica. Its monotonic clock by default. */
  readonly now?: (() => number) | undefined
  /** The present state of the catalog. */
  snapshot (): Snapshot
  readonly auditedArguments: TaskOperatorDependencies['auditedArguments']
}

export interface Tasks extends ServedTasks {
  readonly operator: TaskOperator
  readonly counts: TaskCounts & { readonly running: number }
}

/** Compiles a catalog with tasks: without these options its service declares none. */
export const TASK_OPTIONS: { readonly hasTasks?: boolean } = { hasTasks: true }

export function createTasks (options: TasksOptions): Tasks {
  const { store, sealer, dueTimes, broadcast, log, maxPerOwner, leaseMs, now, snapshot } = options
  const records = new TaskRecords(store, sealer, maxPerOwner)
  const storeClock = new StoreClock(now)
  const endings = new Set<Promise<void>>()
  const reports = new TaskReports(log)
  const watches = new TaskWatches(broadcast)
  const handovers = new Handovers({ broadcast, storeClock, leaseMs, snapshot })
  let isClosing = false

  const shared = { records, dueTimes, storeClock, leaseMs }
  const transitions = new Transitions({
    ...shared,
    announce ({ entry }, record) {
      const isOver = phaseOf(record) === 'over'
      const published = broadcast.publish({ type: 'task-changed', entry, isOver, run: record.run })
      published.catch((err: unknown) => log.error({ err }, 'the change of a task was not announced'))
    },
    onUndone: (record) => reports.noteUndone(record),
    onDue: (inMs) => runner.noteDue(inMs),
    isClosing: () => isClosing
  })
  const dependencies: Omit<TaskStartDependencies, 'waiters'> & TaskRunnerDependencies = {
    ...options,
    ...shared,
    transitions,
    reports,
    handovers,
    onProgress: ({ entry }, progress) => watches.tellProgress(entry, progress),
    onCreate: (run) => runner.add(run),
    onEnd (run, writing) {
      finishBeforeClose(writing.catch((err: unknown) => {
        if (!(err instanceof TaskLost)) log.warn({ err }, 'the end of a run was not kept')
      }).finally(() => {
        runner.remove(run)
        watches.note(run.key.entry)
      }))
    }
  }

  function finishBeforeClose (work: Promise<void>): void {
    const ending = work.finally(() => endings.delete(ending))
    endings.add(ending)
  }

  const runner = new TaskRunner(dependencies)
  const access = new TaskAccess({ ...shared, transitions, runner, snapshot })
  const followers = createTaskFollowers({
    records, access, watches, maxFollowed: options.maxFollowed, now: storeClock.now
  })
  const waits = new CallWaits({ access, watches, isHere: (entry) => runner.isHere(entry) })
  const waiters = new CallWaiters({
    ...options,
    ...shared,
    access,
    transitions,
    waits,
    background: (work) => finishBeforeClose(work.catch((err: unknown) => {
      log.warn({ err }, 'a call that has ended was not put away')
    }))
  })
  const continued = new ContinuedCalls({ access, waiters })
  const startDependencies = { ...dependencies, waiters }
  const unsubscribe = broadcast.subscribe((event) => {
    if (event.type === 'task-changed' && event.isOver) runner.stop(event.entry, event.run ?? Infinity)
    // A cancel may be among them.
    else if (event.type === 'events-missed') runner.renewAll()
  })
  const endOffers = handovers.onOffer((key) => { runner.takeOffered(key) })
  return {
    starter: {
      open: (request, call) => openCall(startDependencies, request, call),
      openRelay: (request, call) => openRelay(startDependencies, request, call),
      continue: async (...call) => await continued.continue(...call)
    },
    methods: createTaskMethods(access),
    followers,
    operator: new TaskOperator({ ...options, ...shared, transitions, reports }),
    counts: {
      left: reports.left,
      losses: reports.losses,
      undos: reports.undos,
      get running () { return runner.running }
    },
    start: (toolRuns) => runner.start(toolRuns),
    look: () => runner.noteDue(0),
    stopTaking () {
      runner.stopTaking()
      waits.stop()
    },
    async close () {
      isClosing = true
      runner.close()
      watches.close()
      unsubscribe()
      endOffers()
      while (endings.size > 0) await Promise.all(endings)
    }
  }
}
