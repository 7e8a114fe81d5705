// Opens tasks: calls that go on after they were answered.

import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import { redact } from '../features/audit/redaction.ts'
import { createTasks } from '../features/tasks/tasks.ts'
import { waitWithin } from '../ops/config/config.ts'
import { partOf } from '../platform/limits/limits.ts'
import type { UpstreamTokens } from '../request/pipeline/seams.ts'
import type { ServedTasks } from '../request/pipeline/served-tasks.ts'
import type { AuthorPage } from './features.ts'
import type { OpenedState } from './state.ts'

/** How long a request without tasks waits for its call, in milliseconds: hosts give up after a minute. */
const MAX_WAIT_MS = 25_000

/**
 * @param upstreamTokens absent: tasks keep no tokens for upstreams.
 * @param taskLog takes the log messages of tasks.
 */
export function openTasks (
  { config, backend, catalog, sealer, log, clock }: OpenedState, upstreamTokens?: UpstreamTokens,
  taskLog?: AuthorPage['taskLog']
): ServedTasks {
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
    readingMs: config.readingMs,
    waitMs: config.taskWaitMs ?? waitWithin(config.requestTimeoutMs, MAX_WAIT_MS),
    patienceMs: config.taskPatienceMs,
    maxRuns: partOf('taskRuns', config.workerCount),
    maxFollowed: partOf('followedTasks', config.workerCount),
    leaseMs: config.taskLeaseMs,
    now: clock.now,
    snapshot: () => catalog.current,
    isUsed,
    ...(upstreamTokens !== undefined && { upstreamTokens }),
    ...(taskLog !== undefined && { onMessage: taskLog.add.bind(taskLog) }),
    auditedArguments (name, args) {
      const rule = catalog.current.primitives.tools.find(({ key }) => key === name)?.audit
      return rule?.hasValues === true ? redact(args, rule.secretNames) : undefined
    }
  })
}
