// Defines what handlers share and a load sets up: a connection pool, a client, an index.

import type { SettingsDefinition } from './define-settings.ts'
import { define, type Definition } from './definition.ts'
import type { Log } from './log.ts'

/** What `open` receives. */
export interface OpenContext<V> {
  /** The values of the definition's settings. */
  readonly settings: V
  /** Writes to the service's log, under the name of the dependency. It may be used later too. */
  readonly log: Log
  /** Aborts when the time is over, or when the service ends meanwhile. */
  readonly signal: AbortSignal
}

/** What `defineDependency` takes. */
export interface DependencyOptions<V, T> {
  /** For the log and for operators: `database`. Unique in the catalog; letters, digits, `-` and `_`. */
  name: string
  /** The settings that `open` needs. None by default. */
  settings?: SettingsDefinition<V>
  /**
   * Opens the dependency. Called when the catalog is loaded and has no problem, at the same time as every
   * other dependency. Anything that it throws keeps the catalog from loading: the log has the message,
   * without the values of secrets. A client whose connection may fail later needs a listener for `error`.
   */
  open (context: OpenContext<V>): T | Promise<T>
  /** Closes what `open` returned. What it throws is logged. Nothing is closed by default. */
  close? (value: T): unknown
  /**
   * Rejects while the dependency cannot be used: the replica is then not ready, and /readyz of the admin
   * address has the name and the message. Called for each request of /readyz, with 3 seconds of time, and
   * never twice at once. By default the dependency counts as ready.
   */
  check? (value: T, context: { readonly signal: AbortSignal }): unknown
  /** How long `open` may take, in milliseconds, at most 300,000. 10,000 by default. */
  openTimeoutMs?: number
  /**
   * How long the service waits for `close`, in milliseconds, at most 300,000. 2,000 by default. At the end of
   * the process no more than the rest of the time for the shutdown.
   */
  closeTimeoutMs?: number
}

/** A dependency, made by `defineDependency`. `T` is the type of its value. */
export type DependencyDefinition<T = unknown> =
  Definition & Readonly<DependencyOptions<unknown, unknown>> & { readonly '~value'?: T }

/**
 * Defines a dependency of the catalog: a value that is opened once for each load, that all handlers share
 * with `ctx.use(definition)`, and that is closed when no request can use it any more. Any module of the
 * catalog may define it, exported or not.
 *
 * A reload keeps the open value if neither the module that defines it, nor a module which that one imports,
 * nor the values of its settings have changed. Otherwise, and after SIGHUP, it opens a new value first. The
 * old one is closed when the last request that began before the reload has ended. If `open` fails in a
 * reload, the service keeps the catalog and the values from before; if it fails at the start, the service
 * does not start. At the end of the process every value is closed after the last request.
 *
 * `trivet check`, `list` and `diff` open nothing.
 *
 * @example
 * export const database = defineDependency({
 *   name: 'database',
 *   settings,
 *   open: ({ settings }) => new Pool({ connectionString: settings.DATABASE_URL }),
 *   close: async (pool) => await pool.end(),
 *   check: async (pool) => await pool.query('select 1')
 * })
 */
export function defineDependency<T, V = Readonly<Record<never, never>>> (
  options: DependencyOptions<V, T>
): DependencyDefinition<T> {
  // The service calls `close` and `check` with what `open` returned: their types then hold.
  return define('dependency', options) as unknown as DependencyDefinition<T>
}
