import type { Session } from '../../src/edges/legacy/sessions/session.ts'

/** What the service knows of a session after `initialize`. */
export const SESSION: Session = {
  id: 'one',
  owner: 'alice',
  revision: '2025-11-25',
  clientInfo: undefined,
  clientCapabilities: {},
  expiresAt: Date.now() + 3_600_000
}
