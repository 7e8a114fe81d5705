import type { Method } from '../dispatch/method.ts'
import { RequestContext, type Outlet, type RequestFacts } from '../dispatch/request-context.ts'
import type { Session } from './session.ts'

/** A request of a session. */
export class SessionRequestContext extends RequestContext {
  readonly session: Session

  constructor (session: Session, facts: RequestFacts, outlet: Outlet) {
    super(facts, outlet)
    this.session = session
  }
}

/** For methods that only sessions have. */
export function sessionOf (context: Parameters<Method['open']>[1]): Session {
  if (!(context instanceof SessionRequestContext)) throw new TypeError('a method of sessions was called without one')
  return context.session
}
