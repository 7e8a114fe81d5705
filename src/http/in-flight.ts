// The requests that are being served: each ends with its answer, or before it with its client or with the service.

import type { ServerResponse } from 'node:http'
import { RequestAborted } from '../dispatch/endings.ts'
import type { RequestContext } from '../dispatch/request-context.ts'

export interface InFlight {
  add (context: RequestContext, response: ServerResponse): void
  /** For a request that its client may leave and come back to: to be told when it has ended. */
  addDetached (context: RequestContext): () => void
  /** Ends every request that is still being served. */
  abortAll (): void
}

export function createInFlight (): InFlight {
  // Most requests are answered within the turn of the event loop in which they came: only what outlasts it is watched.
  let fresh: Array<{ readonly context: RequestContext, readonly response: ServerResponse }> = []
  const lasting = new Set<RequestContext>()

  function watchLasting (): void {
    const added = fresh
    fresh = []
    for (const { context, response } of added) if (!context.isEnded) watch(context, response)
  }

  function watch (context: RequestContext, response: ServerResponse): void {
    lasting.add(context)
    context.startClock()
    const onClose = () => {
      lasting.delete(context)
      if (!response.writableEnded) context.abort(new RequestAborted('The client is gone'))
    }
    if (response.closed) onClose()
    else response.once('close', onClose)
  }

  return {
    add (context, response) {
      if (fresh.push({ context, response }) === 1) setImmediate(watchLasting)
    },
    addDetached (context) {
      lasting.add(context)
      context.startClock()
      return () => { lasting.delete(context) }
    },
    abortAll () {
      watchLasting()
      for (const context of lasting) context.abort(new RequestAborted('The service is shutting down'))
    }
  }
}
