// The seam for limits: an interface, and the implementation without limits.

import type { Call } from './method.ts'
import type { RequestContext } from './request-context.ts'

/** Limits how much a caller may use. */
export interface Limiter {
  /**
   * Throws or rejects with a ProtocolError when a limit is reached. An implementation that counts running
   * requests subtracts the request when `request.lifetime` ends.
   */
  admit (call: Call, request: RequestContext): void | Promise<void>
  /** Throws a ProtocolError when a limit does not allow the result of the call. Absent if none is limited. */
  admitResult? (call: Call, result: string | Buffer, request: RequestContext): void
}

/** Admits every call. */
export const unlimited: Limiter = { admit () {} }
