// The seam to the upstreams that a task goes on to call after its request.

import type { Principal } from '../../../platform/access/principal.ts'
import type { KeptTokensByName } from '../../../platform/access/token-exchange.ts'

export interface UpstreamTokens {
  /**
   * Exchanges the caller's token for the upstreams that the tool names, and that say that tasks keep one.
   * Resolves to `undefined` if there are none. Never rejects: what cannot be exchanged is not kept.
   */
  exchange (principal: Principal, tool: string): Promise<KeptTokensByName | undefined>
  /**
   * Gives kept tokens to a run.
   * @param principal of this run alone.
   * @param keep writes renewed tokens into the record. Resolves once they are durable.
   */
  attach (
    principal: Principal, tokens: KeptTokensByName, keep: (tokens: KeptTokensByName) => Promise<void>
  ): void
}
