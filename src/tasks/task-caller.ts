// The caller of a run that no request began: the principal and the client of the call, as the task has them.

import type { Caller, RequestLog, ResumedTask } from '../request/pipeline/caller.ts'
import type { TaskRecord } from './task-record.ts'

export function toTaskCaller (
  { principal, client, requestId }: TaskRecord, task: ResumedTask, log: RequestLog
): Caller {
  const { revision, capabilities: clientCapabilities, info: clientInfo } = client
  return {
    principal: { ...principal, scopes: new Set(principal.scopes) },
    envelope: { revision, clientCapabilities, clientInfo, logLevel: undefined, progressToken: undefined },
    requestId,
    log,
    task
  }
}
