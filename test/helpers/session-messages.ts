// The messages about sessions in one process. Tests share them between parts that would run on several
// replicas.

import { SessionMessages } from '../../src/edges/legacy/sessions/session-messages.ts'
import { createLocalBroadcast } from '../../src/platform/store/changes/local-broadcast.ts'

/** An error of a listener becomes an uncaught exception, which fails the test. */
export function createLocalSessionMessages (): SessionMessages {
  return new SessionMessages(createLocalBroadcast(), (error) => { queueMicrotask(() => { throw error }) })
}
