// One line in the log for each request: what it was and how it ended, never what it said.

import { ClientGone, ServiceClosing } from './lifetime.ts'
import type { Ending, Observer } from './observer.ts'
import type { RequestLog } from './caller.ts'

const INTERNAL_ERROR = -32603

export function createLogObserver (log: Pick<RequestLog, 'info' | 'warn' | 'error'>): Observer {
  return {
    end (observed, ending) {
      const { requestId: reqId, method, subject: name } = observed
      const { durationMs, status, failure, isCancelled } = ending
      if (isFault(ending)) log.error({ reqId, err: ending.error, method, name }, 'request failed')
      else if (failure?.cause !== undefined) log.warn({ reqId, err: failure.cause, method, name }, 'request refused')
      const cancelled = isCancelled ? true : undefined
      log.info({ reqId, method, name, status, code: failure?.code, durationMs: Math.round(durationMs * 100) / 100, cancelled }, 'request')
    }
  }
}

/** Whether somebody must look after it: an end by the client or by the service is none. */
function isFault ({ failure, error }: Ending): boolean {
  return failure?.code === INTERNAL_ERROR && !(error instanceof ClientGone || error instanceof ServiceClosing)
}
