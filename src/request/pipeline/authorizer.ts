// The seam for authorization beyond scopes: an interface, and the implementation that allows every call.

import type { Call } from './method.ts'
import type { RequestContext } from './request-context.ts'

/** Decides about a call of a primitive that the caller's view lets it use. */
export interface Authorizer {
  /** Throws a ProtocolError when the caller may not make the call. */
  authorize (call: Call, request: RequestContext): void
}

/** Every caller may use all that its view has. */
export const allowAll: Authorizer = { authorize () {} }
