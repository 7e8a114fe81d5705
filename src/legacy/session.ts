// What a handshake settled, for as long as the session lasts.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management

import type { ClientCapabilities } from '../protocol/capabilities.ts'
import type { Implementation } from '../protocol/primitives.ts'

export interface Session {
  /** Unique; not what the client knows it by. */
  readonly id: string
  /** Who it belongs to. */
  readonly owner: string
  readonly revision: string
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
  /** When it ends however much it is used, in milliseconds since the epoch. */
  readonly expiresAt: number
}

/** What a handshake settles. */
export type Settled = Pick<Session, 'revision' | 'clientInfo' | 'clientCapabilities'>
