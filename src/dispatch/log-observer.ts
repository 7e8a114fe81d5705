// Writes one line to the log for each request: its method and its ending, never its arguments or its result.

import { ClientGone, ServiceClosing } from './lifetime.ts'
import type { Ending, Observer } from './observer.ts'
import type { RequestLog } from './caller.ts'
import { INTERNAL_ERROR } from '../protocol/errors.ts'

/** The optional fields are left out: passing over an undefined field takes the logger half a microsecond. */
interface RequestLine {
  readonly reqId: string
  readonly method: string | undefined
  readonly name: string | undefined
  readonly status: number | undefined
  readonly durationMs: number
  code?: number
  cancelled?: true
}

export function createLogObserver (log: Pick<RequestLog, 'info' | 'warn' | 'error'>): Observer {
  return {
    end (observed, ending) {
      const { requestId: reqId, method, subject: name } = observed
      const { durationMs, status, protocolError, isCancelled } = ending
      if (isInternalError(ending)) log.error({ reqId, err: ending.error, method, name }, 'request failed')
      else if (protocolError?.cause !== undefined) {
        log.warn({ reqId, err: protocolError.cause, method, name }, 'request refused')
      }
      const roundedMs = Math.round(durationMs * 100) / 100
      const line: RequestLine = { reqId, method, name, status, durationMs: roundedMs }
      if (protocolError !== undefined) line.code = protocolError.code
      if (isCancelled) line.cancelled = true
      log.info(observed.refused === undefined ? line : { ...line, ...observed.refused }, 'request')
    }
  }
}

/** Whether the error is a bug to look for. A client that left and a shutdown are not. */
function isInternalError ({ protocolError, error }: Ending): boolean {
  return protocolError?.code === INTERNAL_ERROR &&
    !(error instanceof ClientGone || error instanceof ServiceClosing)
}
