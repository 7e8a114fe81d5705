// The options that tools, prompts, resources and templates share.

import type { Icon, Meta } from '../protocol/content.ts'
import type { UpstreamDefinition } from './define-upstream.ts'

/** What callers get who lack a scope of a definition. */
export type WhenMissing = 'hide' | 'challenge'

/** The options that tools, prompts, resources and templates share. */
export interface CommonOptions {
  /** The identifier. Unique among its kind, case-sensitive, and the same in every release. */
  name: string
  /** The name that people see. `name` by default. */
  title?: string
  /** For the model: what the primitive does, when to use it, and what it returns. */
  description?: string
  /** https://modelcontextprotocol.io/specification/2026-07-28/basic/index#icons */
  icons?: readonly Icon[]
  /** Sent to clients unchanged. Give each key a prefix of your own: `example.com/team`. */
  _meta?: Meta
  /**
   * The OAuth scopes that a caller needs, all of them. `whenMissing` says what any other caller gets. None by
   * default.
   */
  scopes?: readonly string[]
  /**
   * For callers who lack one of the `scopes`. `hide`: the primitive does not exist, and is answered like an
   * unknown name. `challenge`: it is listed, and its use fails with HTTP 403 and the scopes that it needs, so
   * that a client can ask its user for them. `hide` by default. Needs `scopes`.
   * https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#scope-challenge-handling
   */
  whenMissing?: WhenMissing
  /**
   * What the audit log keeps of the arguments: their names, or their values too. Values that look like
   * secrets or handles, and those of properties with `writeOnly: true` or `format: 'password'`, are replaced
   * in any case. `names` by default.
   */
  audit?: 'names' | 'values'
  /**
   * How long the handler and each completion function may take, in milliseconds, from 1 to 3,600,000. A tool
   * that takes longer ends in a tool error, everything else in a JSON-RPC error. By default the setting
   * TRIVET_REQUEST_TIMEOUT_MS. What the handler reads with `ctx.readResource` counts as its own time.
   */
  timeoutMs?: number
  /**
   * The upstreams that the handlers of this definition call. `ctx.fetch` of another one throws a TypeError.
   * It shows in `trivet check` and `list --json`, and `trivet diff` tells of changes. All upstreams of the
   * catalog by default.
   */
  upstreams?: readonly UpstreamDefinition[]
  /** The position in its list: lower comes first, equal ones are sorted by name. 0 by default. */
  order?: number
}
