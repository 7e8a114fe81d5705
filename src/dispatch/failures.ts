// What a failure is called on the wire. The client is told what happened, the log is told why.

import { internalError, ProtocolError, requestCancelled, requestTimedOut } from '../protocol/errors.ts'
import { HandlerTimeout, RequestAborted } from './endings.ts'

export function toProtocolError (error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error
  if (error instanceof HandlerTimeout) return requestTimedOut(error.timeoutMs)
  if (error instanceof RequestAborted) return requestCancelled()
  return internalError(error)
}
