// The values that no operator sets.

import { STRUCTURE_LIMITS } from '../../platform/schema/json-structure.ts'

export const CONSTANTS = {
  /** The processes among which the limits of a replica are divided. */
  workerCount: 1,
  /** Entries on a page of a list, for a catalog without `pageSize`. Many clients read only the first page. */
  pageSize: 1000,
  maxBodyDepth: STRUCTURE_LIMITS.maxDepth,
  maxBodyWeight: STRUCTURE_LIMITS.maxWeight,
  /** The headers of a request together, in bytes. */
  maxHeaderBytes: 16_384,
  /** The largest result of a call, a prompt or a read, in bytes of JSON. */
  maxResultBytes: 33_554_432,
  /** The largest file of the catalog that tools embed in a result, in bytes. */
  maxEmbeddedBytes: 1_048_576,
  /** Calls of all callers together that may run at once on a replica. */
  maxRunning: 10_000,
  /**
   * Calls that one caller may begin in a minute on a replica, if no other rate is set. A loop without a pause
   * sends fifty times as many. The agents of a gateway with one token, hundreds of them, send fewer.
   */
  callsPerMinute: 6000,
  /** Other requests of a caller in a minute on a replica: lists, polls of tasks, streams, links to files. */
  requestsPerMinute: 30_000,
  /** Sessions of one caller that have settings, and ended sessions of one caller that are remembered. */
  maxSessionsPerCaller: 100_000,
  /** The life of a session. */
  sessionTtlMs: 604_800_000,
  /** The life of a session's settings after their last use. */
  sessionIdleMs: 86_400_000,
  /** The time after which a call of a tool with `task` becomes a task. */
  taskGraceMs: 1000,
  /** The time in which nobody reads a question: a client that cancels one sooner has nobody to ask. */
  readingMs: 1000,
  /** How long a step, question or sleep of a task waits for those that came before it in earlier runs. */
  taskPatienceMs: 30_000
}

export type Constants = { readonly [K in keyof typeof CONSTANTS]: number }
