// Composes the methods of both eras and the limits of their calls, and opens tasks: calls that go on after
// they were answered.

import type { FastifyBaseLogger } from 'fastify'
import { clock as systemClock, type Clock } from '../base/time.ts'
import type { Catalog } from '../catalog/compiled/catalog.ts'
import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import { createCallLimiter, type CallLimiter, type LimitHit } from '../limits/call-limiter.ts'
import { readCallLimits } from '../limits/call-limits.ts'
import type { ServiceConfig } from '../ops/config/config.ts'
import { createMethods, type MethodDependencies } from '../request/methods/method-list.ts'
import type { Method } from '../request/pipeline/method.ts'
import type { OpenedBackend } from '../store/backends/backend.ts'
import { createFirstAnswers } from '../store/records/first-answers.ts'
import { createHandles } from '../store/records/handles.ts'
import type { Sealer } from '../store/sealing/sealer.ts'
import { createTasks, type Tasks } from '../tasks/tasks.ts'

interface TasksDependencies {
  readonly backend: OpenedBackend
  readonly catalog: Catalog
  readonly sealer: Sealer
  readonly log: FastifyBaseLogger
  readonly clock: Clock
}

export function openTasks (
  { maxTasksPerCaller, taskGraceMs, taskLeaseMs }: ServiceConfig,
  { backend: { store, dueTimes, broadcast }, catalog, sealer, log, clock }: TasksDependencies
): Tasks {
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
    maxPerOwner: maxTasksPerCaller,
    graceMs: taskGraceMs,
    leaseMs: taskLeaseMs,
    now: clock.now ?? systemClock.now,
    isUsed
  })
}

interface ComposedDependencies extends Pick<
  MethodDependencies, 'files' | 'subscriptions' | 'openStreams' | 'scopeGroups' | 'changingLists' | 'lists'
> {
  readonly backend: OpenedBackend
  readonly tasks: Tasks
  readonly log: FastifyBaseLogger
  readonly clock: Clock
  /** Called for each handle that a tool creates. */
  readonly countHandle: (() => void) | undefined
}

export function composeMethods (
  { requestTimeoutMs, maxHandlesPerCaller }: ServiceConfig,
  { backend: { store, broadcast }, tasks, log, clock, countHandle, ...others }: ComposedDependencies
): Method[] {
  return [...tasks.methods, ...createMethods({
    ...others,
    requestTimeoutMs,
    tasks: tasks.starter,
    taskFollowers: tasks.followers,
    handles: createHandles(store, {
      ...clock, maxPerOwner: maxHandlesPerCaller, ...(countHandle !== undefined && { onCreate: countHandle })
    }),
    firstAnswers: createFirstAnswers(store, clock.now),
    announce (uri, owner) {
      const event = { type: 'resource-updated', uri, ...(owner !== undefined && { owner }) } as const
      broadcast.publish(event).catch((error: unknown) => log.error({ err: error }, 'change not announced'))
    }
  })]
}

/** @param onHit called for each call that a limit refuses. */
export function composeCallLimiter (
  { maxCallsPerCaller, maxRunningPerCaller, maxRunning, maxResultBytes }: ServiceConfig,
  { callCounter }: OpenedBackend,
  onHit: ((hit: LimitHit) => void) | undefined
): CallLimiter {
  const limits = readCallLimits({
    calls: maxCallsPerCaller,
    running: maxRunningPerCaller,
    allRunning: maxRunning,
    resultBytes: maxResultBytes
  })
  return createCallLimiter(callCounter, limits, onHit)
}
