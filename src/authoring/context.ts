// What a handler may know of the request that it serves, and do on its behalf.

import type { Principal } from '../access/principal.ts'
import type { ClientCapabilities } from '../protocol/capabilities.ts'
import type { Implementation } from '../protocol/primitives.ts'
import type { LogLevel } from '../protocol/log-levels.ts'
import type { HandleDefinition } from './define-handle.ts'
import type { Handles } from './handles.ts'
import type { AnswersOf, InputRequest } from './input-request.ts'

/**
 * Writes to the service's log under this request's id, and to the client where the client has asked for messages of
 * this level with the request.
 * https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging
 *
 * @example ctx.log.warning('rate service is slow', { ms: 1200 })
 */
export type Log = { readonly [L in LogLevel]: (message: string, data?: { readonly [key: string]: unknown }) => void }

/** One request, as a handler sees it. */
export interface Context {
  /** Aborts when the client is gone, the timeout has passed or the service is going down. Pass it on to whatever waits. */
  readonly signal: AbortSignal
  /** Who the request acts for. */
  readonly principal: Principal
  /** What the client said of itself in this request. Its `info` is a claim: decide nothing by it. */
  readonly client: { readonly info: Implementation | undefined, readonly capabilities: ClientCapabilities }
  /** The protocol version of this request, such as `2026-07-28`. */
  readonly revision: string
  /** The id under which the service's log has this request. */
  readonly requestId: string
  readonly log: Log
  /** Tells clients that something changed. */
  readonly notify: {
    /**
     * Whoever subscribed to this URI, or to a directory above it, is told, on every replica: with `private` only those who
     * act for the same principal, as it should be where nobody else may read the resource. Everyone by default.
     */
    resourceUpdated (uri: string, options?: { readonly private?: boolean }): void
  }
  /**
   * Tells the client how far the work is, if it asked to know; otherwise does nothing.
   * `done` must grow from call to call; a value that does not is left out. `total` in the same unit, where it is known.
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
   */
  progress (done: number, total?: number, message?: string): void
  /**
   * Closes the connection of a client of revision 2025-11-25 while the handler goes on, and asks it to come back for the
   * result after `retryMs` milliseconds (1000 by default): for work that outlasts what proxies allow. Does nothing for a
   * client of any other revision, the current one included.
   * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
   */
  disconnectLegacyClient (retryMs?: number): void
  /** The caller's state of one kind. Throws where the catalog does not export the definition. */
  handles<T> (kind: HandleDefinition<T>): Handles<T>
  /**
   * Asks the client's user, its model, or for its roots, and resolves to the answers under the same keys. A key names
   * one question of the handler; several may be asked at once, or one after the other.
   *
   * Until the answers are there the handler does not get past this line: the client is asked, and the handler runs
   * again from its first line when it answers. What must happen only once on the way belongs in `once`. The rejection
   * by which the handler is left is not an error: let it pass.
   *
   * A client that lacks the capability gets -32021, which names it. An answer that does not fit is asked for again.
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
   *
   * @example
   * const { size } = await ctx.ask({ size: elicit.form({ message: 'Which size?', schema }) })
   * if (size.action !== 'accept') return 'Nothing was ordered.'
   */
  ask<const R extends { readonly [key: string]: InputRequest }> (requests: R): Promise<AnswersOf<R>>
  /**
   * Does something once for the whole request, however often the handler runs again to ask: the first result, which
   * must be a JSON value, is carried to the next round. It cannot stop a client from sending the last round twice:
   * what must never happen twice needs a handle, changed with `update`.
   */
  once<T> (key: string, fn: () => T | Promise<T>): Promise<T>
}

/** A request for one resource. */
export interface ReadContext extends Context {
  /** The URI that was asked for, as it was written. */
  readonly uri: string
}
