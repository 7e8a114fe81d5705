// A later run of a handler: no request waits for it, and it acts for the last caller who was allowed to see
// the task.

import type { Caller, RequestLog } from '../../../request/pipeline/caller.ts'
import type { ToolRuns, UndoneTask, UpstreamTokens } from '../../../request/pipeline/seams.ts'
import { findResult } from '../../../request/questions/step-results.ts'
import { TaskLost } from './no-outcome.ts'
import type { TaskReports } from './reports.ts'
import { toSender, type TaskRecord } from '../records/record.ts'
import type { TaskRun, TaskRunDependencies } from './run.ts'

export interface LaterRunDependencies extends Pick<TaskRunDependencies, 'onMessage'> {
  readonly reports: Pick<TaskReports, 'noteLeft'>
  readonly log: RequestLog & { child (bindings: object): RequestLog }
  /** Absent: tasks keep no tokens for upstreams. */
  readonly upstreamTokens?: UpstreamTokens
}

/**
 * Calls the handler of the task, or its `undo`.
 * @param findToolRuns returns `undefined` once the service takes no more tasks: the run is then given back.
 */
export function callAgain (
  { log, reports, upstreamTokens, onMessage }: LaterRunDependencies, run: TaskRun, record: TaskRecord,
  findToolRuns: () => ToolRuns | undefined
): void {
  const { tool, args, requestId, client: { revision, capabilities, info } } = record
  const sender = toSender(record)
  upstreamTokens?.attach(sender.principal, record.upstreamTokens ?? {}, run.keepTokens.bind(run))
  const envelope = {
    revision,
    clientCapabilities: capabilities,
    clientInfo: info,
    logLevel: onMessage === undefined ? undefined : 'debug',
    progressToken: undefined
  } as const
  const caller: Caller = { ...sender, envelope, requestId, log: log.child({ reqId: requestId }) }
  if (findToolRuns() === undefined) return run.giveBack()
  run.call().then(() => {
    const toolRuns = findToolRuns()
    // The service began to close meanwhile.
    if (toolRuns === undefined) return run.giveBack()
    const [{ journal }, timeoutMs] = [run, run.takeTimeLimit()]
    const toDeferral = (retryAfterSeconds?: number): Error => {
      if (retryAfterSeconds === undefined) reports.noteLeft(run.key, 'unknown', record)
      return run.toDeferral(retryAfterSeconds)
    }
    const ofUndo: UndoneTask = { resultOf: (stepKey) => findResult(record.results, stepKey) }
    const undone = record.undo === undefined ? undefined : ofUndo
    toolRuns.run({ tool, args, caller, journal, timeoutMs, undone, outlet: run, toDeferral })
  }, (err: unknown) => {
    if (!(err instanceof TaskLost)) log.warn({ err }, 'a due task was not run')
    run.leaveUnanswered()
  })
}
