// The relay of sessions of one process, as tests share it between parts that would run on several replicas.

import { createMemoryRelay } from '../../src/backends/memory/relay.ts'
import { createSessionRelay, type SessionRelay } from '../../src/legacy/session-relay.ts'

/** What goes wrong in a listener is thrown out of anybody's reach, so that it fails the test. */
export function createLocalSessionRelay (): SessionRelay {
  return createSessionRelay(createMemoryRelay(), (error) => { queueMicrotask(() => { throw error }) })
}
