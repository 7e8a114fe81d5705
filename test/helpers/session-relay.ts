// The session relay of one process. Tests share it between parts that would run on several replicas.

import { createMemoryRelay } from '../../src/backends/memory/relay.ts'
import { createSessionRelay, type SessionRelay } from '../../src/legacy/session-relay.ts'

/** An error of a listener becomes an uncaught exception, which fails the test. */
export function createLocalSessionRelay (): SessionRelay {
  return createSessionRelay(createMemoryRelay(), (error) => { queueMicrotask(() => { throw error }) })
}
