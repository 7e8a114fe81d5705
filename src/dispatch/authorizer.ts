import type { Call } from './method.ts'
import type { RequestContext } from './request-context.ts'

/** Decides whether a caller may do what it asks for, beyond what its view of the catalog shows. */
export interface Authorizer {
  /** Throws a ProtocolError where the caller may not. */
  authorize (call: Call, request: RequestContext): void
}

/** Whoever sees a primitive may use it. */
export const allowAll: Authorizer = { authorize () {} }
