// Composes the methods of both eras.

import { createResultCutter } from '../features/remainders/remainders.ts'
import { createMethods, type MethodDependencies } from '../request/methods/method-list.ts'
import { createFirstAnswers } from '../platform/store/records/first-answers.ts'
import { createHandles } from '../platform/store/records/handles.ts'
import type { FileAccess } from '../request/pipeline/seams.ts'
import type { ServedTasks } from '../request/pipeline/served-tasks.ts'
import type { OpenedState } from './state.ts'

interface ComposedDependencies extends Pick<
  MethodDependencies,
  'subscriptions' | 'openStreams' | 'scopeGroups' | 'tokenWatch' | 'changingLists' | 'lists'
> {
  readonly tasks: ServedTasks | undefined
  readonly files: FileAccess | undefined
  /** Called for each handle that a tool creates. */
  readonly countHandle: (() => void) | undefined
}

export function composeMethods (
  { config, backend: { store, broadcast }, log, clock }: OpenedState,
  { tasks, files, countHandle, ...seams }: ComposedDependencies
) {
  const { requestTimeoutMs, maxHandlesPerCaller } = config
  const dependencies: MethodDependencies = {
    ...seams,
    requestTimeoutMs,
    ...files && { files },
    ...tasks && { tasks: tasks.starter, taskFollowers: tasks.followers },
    handles: createHandles(store, {
      ...clock, maxPerOwner: maxHandlesPerCaller, ...(countHandle !== undefined && { onCreate: countHandle })
    }),
    cutter: createResultCutter(store, clock),
    firstAnswers: createFirstAnswers(store),
    announce (uri, owner) {
      const event = { type: 'resource-updated', uri, ...(owner !== undefined && { owner }) } as const
      broadcast.publish(event).catch((error: unknown) => log.error({ err: error }, 'change not announced'))
    }
  }
  return { methods: [...tasks?.methods ?? [], ...createMethods(dependencies)], dependencies }
}
