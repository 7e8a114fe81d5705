// A session: the outcome of a handshake, and its lifetime.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management

import { ANONYMOUS_OWNER } from '../../../platform/access/principal.ts'
import type { Holder } from '../../../platform/limits/holder.ts'
import type { ClientCapabilities } from '../../../platform/protocol/capabilities.ts'
import type { Implementation } from '../../../platform/protocol/primitives.ts'

export interface Session {
  /** Unique. The client never sees it: the Mcp-Session-Id that the client sends is the sealed session. */
  readonly id: string
  /** The principal that began the session, as the owner of state is named. */
  readonly owner: string
  /** The network of the sender that began the session, if a share limits it. */
  readonly network?: string
  readonly revision: string
  readonly clientInfo: Implementation | undefined
  readonly clientCapabilities: ClientCapabilities
  /** When the session ends, even if it is in use, in milliseconds since the epoch. */
  readonly expiresAt: number
}

/** Whose share of a limit the session uses. `undefined` if no share limits it. */
export function holderIn ({ owner, network }: Session): Holder | undefined {
  if (owner !== ANONYMOUS_OWNER) return { kind: 'principal', name: owner }
  return network === undefined ? undefined : { kind: 'network', name: network }
}

/** What `initialize` negotiates. */
export type Negotiated = Pick<Session, 'revision' | 'clientInfo' | 'clientCapabilities'>
