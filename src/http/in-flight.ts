// The requests that are being served, so that a shutdown can wait for them, and end them when it can wait no longer.

import type { RequestContext } from '../dispatch/request-context.ts'
import { RequestAborted } from '../dispatch/run-handler.ts'

export interface InFlight {
  add (context: RequestContext): void
  remove (context: RequestContext): void
  /** Ends every request that is still being served. */
  abortAll (): void
}

export function createInFlight (): InFlight {
  const contexts = new Set<RequestContext>()
  return {
    add: (context) => { contexts.add(context) },
    remove: (context) => { contexts.delete(context) },
    abortAll () {
      for (const context of contexts) context.abort(new RequestAborted('The service is shutting down'))
    }
  }
}
