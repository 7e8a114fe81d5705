// Writes one line to the log for each request: its method, its subject and its ending. Only the author of a
// catalog sees its arguments and its result.

import { EarlierFailure, INTERNAL_ERROR } from '../../platform/protocol/errors.ts'
import type { RequestLog } from './caller.ts'
import { ClientGone, ServiceClosing } from './lifetime.ts'
import { toOutcomeWord, type DescribeCall, type Ending, type Observer } from './observer.ts'

/** @param describeCall absent unless the log is that of the author of a catalog. */
export function createLogObserver (
  logger: Pick<RequestLog, 'info' | 'warn' | 'error'>, describeCall?: DescribeCall
): Observer {
  return {
    end (observed, ending) {
      const { requestId: reqId, method, subject: name, traceId, refused } = observed
      const { status, protocolError } = ending
      if (isInternalError(ending)) logger.error({ reqId, err: ending.error, method, name }, 'request failed')
      else if (protocolError?.cause !== undefined) {
        logger.warn({ reqId, err: protocolError.cause, method, name }, 'request refused')
      }
      const subject = observed.principal?.subject
      logger.info({
        reqId,
        method,
        name,
        ...subject !== undefined && { subject },
        status,
        outcome: toOutcomeWord(observed, ending),
        durationMs: Math.round(ending.durationMs * 100) / 100,
        ...(traceId !== undefined && { traceId }),
        ...(protocolError !== undefined && { code: protocolError.code }),
        ...refused,
        ...describeCall?.(observed, ending)
      }, 'request')
    }
  }
}

/** Whether the error is a bug to look for. A client that left, a shutdown and an earlier failure are not. */
function isInternalError ({ protocolError, error }: Ending): boolean {
  return protocolError?.code === INTERNAL_ERROR &&
    !(error instanceof ClientGone || error instanceof ServiceClosing || error instanceof EarlierFailure)
}
