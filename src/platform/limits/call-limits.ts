// Limits of calls: of the whole service, or of one tool.

import { readRate, type Rate } from './rate.ts'

/**
 * Limits of the calls of a tool. A call beyond one is refused: the model receives a tool error that says
 * which limit it is, and how long to wait if that helps. None by default; those of the service hold in any
 * case.
 *
 * A rate is a number of calls and a time in `s`, `m`, `h` or `d`, such as `'100/1m'`. It holds in every span
 * of this length, over all replicas that share a Redis or a PostgreSQL.
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
  /** The largest arguments of one call, in bytes of JSON. */
  argumentBytes?: number
  /** How deep arrays and objects in the arguments may be nested. Arguments without any have the depth 1. */
  argumentDepth?: number
  /**
   * The largest result of one call, in bytes of JSON: at least 2000 with `then: 'cut'`. By default a larger
   * result is refused. The call has run then.
   *
   * With `then: 'cut'` a larger result is cut: its texts at the end of a line or a sentence, or the largest
   * array of its structured content between two rows. The model is told, in a text and in the member
   * `notice` of that content, and reads on with the tool `read_more` of the service, for an hour. If
   * `outputSchema` does not accept this, the result is the cut JSON text, with `isError: true`. A result is
   * refused if it has more than 4 MiB of JSON, or if its blocks without text are too large.
   */
  resultBytes?: number | { max: number, then?: 'refuse' | 'cut' }
}

export interface CallLimits {
  readonly calls: Rate | undefined
  readonly allCalls: Rate | undefined
  readonly running: number | undefined
  readonly allRunning: number | undefined
  readonly argumentBytes: number | undefined
  readonly argumentDepth: number | undefined
  readonly resultBytes: number | undefined
  /** The length to which a longer result is cut. */
  readonly cutBytes: number | undefined
}

export const NO_LIMITS: CallLimits = {
  calls: undefined,
  allCalls: undefined,
  running: undefined,
  allRunning: undefined,
  argumentBytes: undefined,
  argumentDepth: undefined,
  resultBytes: undefined,
  cutBytes: undefined
}

/** Options as a reader of a file returns them: an absent one may be `undefined`. */
export type Unread<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** @param options have passed the check of their shape. */
export function readCallLimits (options: Unread<CallLimitOptions> | undefined): CallLimits {
  if (options === undefined) return NO_LIMITS
  const { calls, allCalls, resultBytes } = options
  const { max, then = 'refuse' } = typeof resultBytes === 'object' ? resultBytes : { max: resultBytes }
  return {
    ...NO_LIMITS,
    ...options,
    calls: calls === undefined ? undefined : readRate(calls),
    allCalls: allCalls === undefined ? undefined : readRate(allCalls),
    resultBytes: max,
    cutBytes: then === 'cut' ? max : undefined
  }
}

/** The limits of the service. The rates of the settings come before those of server.yaml. */
export function combineLimits (settings: CallLimits, yaml: CallLimits): CallLimits {
  return {
    calls: settings.calls ?? yaml.calls,
    allCalls: settings.allCalls ?? yaml.allCalls,
    running: lowerLimit(settings.running, yaml.running),
    allRunning: lowerLimit(settings.allRunning, yaml.allRunning),
    argumentBytes: lowerLimit(settings.argumentBytes, yaml.argumentBytes),
    argumentDepth: lowerLimit(settings.argumentDepth, yaml.argumentDepth),
    resultBytes: lowerLimit(settings.resultBytes, yaml.resultBytes),
    cutBytes: lowerLimit(settings.cutBytes, yaml.cutBytes)
  }
}

export function lowerLimit (left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? left ?? right : Math.min(left, right)
}
