// Composes the methods of both eras, and opens tasks: calls that go on after they were answered.

import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import { partOf } from '../platform/limits/limits.ts'
import { createMethods, type MethodDependencies } from '../request/methods/method-list.ts'
import { createFirstAnswers } from '../platform/store/records/first-answers.ts'
import { createHandles } from '../platform/store/records/handles.ts'
import { waitWithin } from '../ops/config/config.ts'
import { redact } from '../ops/audit/redaction.ts'
import type { UpstreamTokens } from '../request/pipeline/seams.ts'
import { createTasks, type Tasks, type TasksOptions } from '../features/tasks/tasks.ts'
import type { OpenedState } from './state.ts'

/** How long a request without tasks waits for its call, in milliseconds: hosts give up after a minute. */
const MAX_WAIT_MS = 25_000

/**
 * @param upstreamTokens absent: tasks keep no tokens for upstreams.
 * @param onMessage is told the log messages of tasks.
 */
export function openTasks (
  { config, backend, catalog, sealer, log, clock }: OpenedState, upstreamTokens?: UpstreamTokens,
  onMessage?: TasksOptions['onMessage']
): Tasks {
  const { store, dueTimes, broadcast } = backend
  const answers = new WeakMap<Snapshot, boolean>()

  /** Looks at the tools of each snapshot once. */
  function isUsed (): boolean {
    const { current } = catalog
    const isUsed = answers.get(current) ?? current.primitives.tools.some(({ task }) => task !== undefined)
    answers.set(current, isUsed)
    return isUsed
  }

  return createTasks({
    store,
    sealer,
    dueTimes,
    broadcast,
    log,
    maxPerOwner: config.maxTasksPerCaller,
    graceMs: config.taskGraceMs,
    waitMs: config.taskWaitMs ?? waitWithin(config.requestTimeoutMs, MAX_WAIT_MS),
    patienceMs: config.taskPatienceMs,
    maxRuns: partOf('taskRuns', config.workerCount),
    maxFollowed: partOf('followedTasks', config.workerCount),
    leaseMs: config.taskLeaseMs,
    now: clock.now,
    snapshot: () => catalog.current,
    isUsed,
    ...(upstreamTokens !== undefined && { upstreamTokens }),
    ...(onMessage !== undefined && { onMessage }),
    auditedArguments (name, args) {
      const rule = catalog.current.primitives.tools.find(({ key }) => key === name)?.audit
      return rule?.hasValues === true ? redact(args, rule.secretNames) : undefined
    }
  })
}

interface ComposedDependencies extends Pick<
  MethodDependencies,
  'files' | 'subscriptions' | 'openStreams' | 'scopeGroups' | 'tokenWatch' | 'changingLists' | 'lists'
> {
  readonly tasks: Tasks
  /** Called for each handle that a tool creates. */
  readonly countHandle: (() => void) | undefined
}

export function composeMethods (
  { config, backend: { store, broadcast }, log, clock }: OpenedState,
  { tasks, countHandle, ...others }: ComposedDependencies
) {
  const { requestTimeoutMs, maxHandlesPerCaller } = config
  const dependencies: MethodDependencies = {
    ...others,
    requestTimeoutMs,
    tasks: tasks.starter,
    taskFollowers: tasks.followers,
    handles: createHandles(store, {
      ...clock, maxPerOwner: maxHandlesPerCaller, ...(countHandle !== undefined && { onCreate: countHandle })
    }),
    firstAnswers: createFirstAnswers(store),
    announce (uri, owner) {
      const event = { type: 'resource-updated', uri, ...(owner !== undefined && { owner }) } as const
      broadcast.publish(event).catch((error: unknown) => log.error({ err: error }, 'change not announced'))
    }
  }
  return { methods: [...tasks.methods, ...createMethods(dependencies)], dependencies }
}
