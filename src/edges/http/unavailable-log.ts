// Limits the log lines about tokens that cannot be checked: each reason has one line in ten seconds, however
// many requests come.

import { LRUCache } from 'lru-cache'
import type { AuthenticationUnavailable } from '../../platform/access/authentication.ts'
import { createOutageLog } from '../../base/outage-log.ts'

export interface UnavailableLog {
  /** Logs that the token of a request could not be checked. */
  add (error: AuthenticationUnavailable): void
}

/** Each server has its own reasons. Some contain an error code of the server. */
const MAX_REASONS = 100

export function createUnavailableLog (
  log: { error (fields: object, message: string): void }
): UnavailableLog {
  const byReason = new LRUCache<string, () => void>({ max: MAX_REASONS })
  return {
    add ({ message: reason }) {
      let add = byReason.get(reason)
      if (add === undefined) {
        const write = ({ errors: requests }: { errors?: number }, message: string) =>
          log.error({ reason, requests }, message)
        const outage = createOutageLog({ log: { warn: write }, message: 'access tokens cannot be checked' })
        byReason.set(reason, add = () => outage(undefined))
      }
      add()
    }
  }
}
