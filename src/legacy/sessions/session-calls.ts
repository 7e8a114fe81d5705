// The requests of sessions that this replica is serving. The client may cancel a request, or end its session,
// through another replica.

import type { RequestId } from '../../protocol/json-rpc.ts'
import { RequestCancelled, type Lifetime } from '../../request/pipeline/lifetime.ts'
import type { EndedSessions } from './ended-sessions.ts'
import type { SessionMessages } from './session-messages.ts'

export interface SessionCalls {
  /** Stops the request when its client cancels it or ends the session. */
  add (session: string, request: RequestId, lifetime: Lifetime): void
  close (): void
}

export function createSessionCalls (
  messages: SessionMessages, ended: Pick<EndedSessions, 'onEnd'>
): SessionCalls {
  const bySession = new Map<string, Map<RequestId, Lifetime>>()

  const stopListening = messages.listen((message) => {
    if (message.type !== 'call-cancelled') return
    bySession.get(message.session)?.get(message.request)?.stop(new RequestCancelled())
  })
  ended.onEnd((session) => {
    for (const lifetime of bySession.get(session)?.values() ?? []) lifetime.stop(new RequestCancelled())
  })

  return {
    add (session, request, lifetime) {
      const calls = bySession.get(session) ?? new Map<RequestId, Lifetime>()
      bySession.set(session, calls.set(request, lifetime))
      lifetime.onEnd(() => {
        // The client may have used the same id for a newer request.
        if (calls.get(request) === lifetime) calls.delete(request)
        if (calls.size === 0 && bySession.get(session) === calls) bySession.delete(session)
      })
    },
    close: stopListening
  }
}
