// Turns any error into the error for the client. The client learns what happened; the log has the cause.

import { isToolError } from '../../platform/author/tool-error.ts'
import {
  handlerRefused, internalError, ProtocolError, requestCancelled, requestTimedOut, stateUnavailable
} from '../../platform/protocol/errors.ts'
import { StoreUnavailable } from '../../platform/store/records/state-store.ts'
import { ClientGone, HandlerTimeout, ServiceClosing } from './lifetime.ts'

/** @param requestId the id of the request in the log. The client of an internal error receives it. */
export function toProtocolError (error: unknown, requestId: string): ProtocolError {
  if (error instanceof ProtocolError) return error
  if (error instanceof HandlerTimeout) return requestTimedOut(error.timeoutMs)
  if (error instanceof ClientGone || error instanceof ServiceClosing) return requestCancelled()
  if (error instanceof StoreUnavailable) return stateUnavailable(error)
  // From a prompt or a resource. A tool error of a tool was turned into a result before.
  if (isToolError(error)) return handlerRefused(error)
  return internalError(error, requestId)
}
