// The session relay of one process. Tests share it between parts that would run on several replicas.

import { createSessionRelay, type SessionRelay } from '../../src/legacy/sessions/session-relay.ts'
import { createLocalBroadcast } from '../../src/store/changes/local-broadcast.ts'

/** An error of a listener becomes an uncaught exception, which fails the test. */
export function createLocalSessionRelay (): SessionRelay {
  return createSessionRelay(createLocalBroadcast(), (error) => { queueMicrotask(() => { throw error }) })
}
