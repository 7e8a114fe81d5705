import type { Call } from './method.ts'
import type { RequestContext } from './request-context.ts'

/** Decides whether a caller may do so much. */
export interface Limiter {
  /**
   * Throws or rejects with a ProtocolError where a limit is reached. What is taken here is given back when
   * `request.lifetime` ends.
   */
  admit (call: Call, request: RequestContext): void | Promise<void>
}

/** No limits. */
export const unlimited: Limiter = { admit () {} }
