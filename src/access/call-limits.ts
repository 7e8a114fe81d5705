// Limits of calls: of the whole service, or of one tool.

import { readRate, type Rate } from './rate.ts'

/**
 * Limits of the calls of a tool. A call beyond one is refused: the model receives a tool error that says
 * which limit it is, and how long to wait. None by default; those of the service hold in any case.
 *
 * A rate is a number of calls and a time in `s`, `m`, `h` or `d`, such as `'100/1m'`. It holds in every span
 * of this length, over all replicas that share a Redis.
 */
export interface CallLimitOptions {
  /** How many calls one caller may begin. */
  calls?: string
  /** How many calls all callers together may begin. */
  allCalls?: string
  /** How many calls of one caller may run at once on a replica. */
  running?: number
  /** How many calls of all callers together may run at once on a replica. */
  allRunning?: number
}

export interface CallLimits {
  readonly calls: Rate | undefined
  readonly allCalls: Rate | undefined
  readonly running: number | undefined
  readonly allRunning: number | undefined
}

export const NO_LIMITS: CallLimits = {
  calls: undefined, allCalls: undefined, running: undefined, allRunning: undefined
}

/** As a reader of a file returns options. */
export type Unread<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** @param options have passed the check of their shape. */
export function readCallLimits (options: Unread<CallLimitOptions> | undefined): CallLimits {
  if (options === undefined) return NO_LIMITS
  const { calls, allCalls, running, allRunning } = options
  return {
    calls: calls === undefined ? undefined : readRate(calls),
    allCalls: allCalls === undefined ? undefined : readRate(allCalls),
    running,
    allRunning
  }
}
