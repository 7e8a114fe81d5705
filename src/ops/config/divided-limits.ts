// Divides the limits of a replica among its workers. Each worker counts alone.

import { divide } from '../../platform/limits/limits.ts'

/** The limits of a replica that have a setting or a constant. Rates of callers are not divided. */
interface ReplicaLimits {
  readonly maxStreams: number
  readonly maxRunning: number
  readonly maxRunningPerCaller: number
}

/** Returns the config with the part of each limit that one worker has, rounded up. */
export function divideLimits<T extends ReplicaLimits & { readonly workerCount: number }> (config: T): T {
  const toPart = (limit: number) => divide(limit, config.workerCount)
  return {
    ...config,
    maxStreams: toPart(config.maxStreams),
    maxRunning: toPart(config.maxRunning),
    maxRunningPerCaller: toPart(config.maxRunningPerCaller)
  }
}
