// What an error is called on the wire. The client is told what happened, the log is told why.

import { isToolError } from '../authoring/tool-error.ts'
import {
  handlerRefused, internalError, ProtocolError, requestCancelled, requestTimedOut, stateUnavailable
} from '../protocol/errors.ts'
import { StoreUnavailable } from '../state/state-store.ts'
import { ClientGone, HandlerTimeout, ServiceClosing } from './lifetime.ts'

export function toProtocolError (error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error
  if (error instanceof HandlerTimeout) return requestTimedOut(error.timeoutMs)
  if (error instanceof ClientGone || error instanceof ServiceClosing) return requestCancelled()
  if (error instanceof StoreUnavailable) return stateUnavailable(error)
  // What a prompt or a resource says of its failure is meant for the client, as it is with a tool.
  if (isToolError(error)) return handlerRefused(error)
  return internalError(error)
}
