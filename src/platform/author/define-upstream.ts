// Defines an upstream: a service that handlers call.

import type { SettingsDefinition } from './define-settings.ts'
import { define, type Definition } from './definition.ts'
import type { FromSettings, UpstreamAuth } from './upstream-auth.ts'

/** How calls of an upstream are repeated. */
export interface UpstreamRetryOptions {
  /** How often a call is sent at most: an integer from 1 to 10. 2 by default. */
  attempts?: number
  /**
   * The longest first pause, in milliseconds, at most 60,000. It doubles with each further attempt, up to
   * 5,000, and is shortened by up to a half at random. 100 by default.
   */
  backoffMs?: number
}

/** What the calls of an upstream may take. */
export interface UpstreamLimitOptions {
  /**
   * The time of a call, in milliseconds, at most 3,600,000: with its credential, its attempts, the pauses
   * between them, and its body. 10,000 by default. A call never takes longer than its request.
   */
  timeoutMs?: number
  /** The bytes of an answer, after decompression, at most 1,073,741,824. 10,485,760 (10 MiB) by default. */
  answerBytes?: number
  /**
   * The calls at once on a replica, at most 10,000. One principal may have a half of them, and the anonymous
   * callers of one network a tenth. A call runs until its body has been read. 50 by default.
   */
  running?: number
}

/** What `defineUpstream` takes. */
export interface UpstreamOptions<V> {
  /** For the log, for metrics and for models: `crm`. Unique in the catalog; letters, digits, `-` and `_`. */
  name: string
  /**
   * The URL below which every call is, such as `https://crm.example.com/api/`, without user, query and
   * fragment: a text, or a function of the settings. A path without `/` at its end is taken as if it had one.
   * It must begin with `https://`, unless `allowPrivate` is true: tokens would travel in clear.
   */
  url: FromSettings<V>
  /** The settings that `url` and `auth` need. None by default. */
  settings?: SettingsDefinition<V>
  /** How calls say who calls. `{ type: 'none' }` if they need not. */
  auth: UpstreamAuth<V>
  /**
   * How calls are repeated that the upstream may get twice: GET, HEAD, OPTIONS, PUT and DELETE, after a
   * failed connection, after a connection that was lost before the answer, and after the statuses 429, 502,
   * 503 and 504. `Retry-After` is obeyed if its time fits into the time that is left. Otherwise, and after
   * the last attempt, the answer is returned. `false`: calls are sent once.
   */
  retry?: UpstreamRetryOptions | false
  limits?: UpstreamLimitOptions
  /**
   * Whether the upstream may be on this machine or in a private network, and may have an `http://` URL.
   * Link-local addresses, and those where clouds tell credentials to their machines, are refused in any case.
   * `false` by default.
   */
  allowPrivate?: boolean
}

/** An upstream, made by `defineUpstream`. */
export type UpstreamDefinition = Definition & Readonly<UpstreamOptions<unknown>>

/**
 * Defines an upstream: a service that handlers call with `ctx.fetch(definition, path)`. Nothing else can be
 * reached with `ctx.fetch`. Any module of the catalog may define it, exported or not.
 *
 * A replica has one pool of connections for each upstream. Every address of its host is checked when a
 * connection is opened, and the connection goes to the address that was checked. After 5 failures in a row,
 * calls fail at once for 5 seconds, and then one call at a time finds out whether the upstream is back. Every
 * connection that fails counts. Timeouts, statuses from 500 and answers that break off count once for each
 * caller until the upstream answers somebody.
 *
 * A reload keeps the pool as it keeps a dependency. Otherwise the old pool is closed when the last request
 * that began before the reload has ended.
 *
 * `trivet check`, `list` and `diff` call nothing. In tests, `catalog.upstream(definition).answer(…)` of
 * `trivet/testing` stands for the upstream.
 *
 * @example
 * export const crm = defineUpstream({
 *   name: 'crm',
 *   settings,
 *   url: ({ CRM_URL }) => CRM_URL,
 *   auth: { type: 'secret', header: 'x-key', value: ({ CRM_KEY }) => CRM_KEY }
 * })
 */
export function defineUpstream<V = Readonly<Record<never, never>>> (
  options: UpstreamOptions<V>
): UpstreamDefinition {
  // The service calls the functions with the values of these settings: their type then holds.
  return define('upstream', options) as unknown as UpstreamDefinition
}
