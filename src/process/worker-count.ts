// How many workers serve: the number of the setting, or one for each core that the service may use.

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../ops/config/settings.ts'
import { isSharedUrl } from '../store/backends/url-schemes.ts'

export interface WorkerCount {
  readonly count: number
  /** Why `auto` is one, for the log. */
  readonly reason?: string
}

const UNSHARED =
  'TRIVET_WORKERS is auto, and one process serves: the state of TRIVET_STATE_URL is for one process. ' +
  'Workers need a state that they share, such as redis:// or postgres://'

const CGROUPS = '/sys/fs/cgroup'

export function countWorkers (
  { workers, stateUrl }: Pick<Config, 'workers' | 'stateUrl'>, cores = countCores
): WorkerCount {
  if (workers !== 'auto') return { count: workers }
  return isSharedUrl(stateUrl) ? { count: cores() } : { count: 1, reason: UNSHARED }
}

/**
 * Counts the cores by the affinity of the process, and by the CPU quotas of its cgroup and of those around
 * it. Rounded down: a worker without a core of its own adds nothing.
 */
export function countCores (parallelism = availableParallelism(), read = readIfThere): number {
  const [, group = '/'] = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup')) ?? []
  const names = group.split('/').filter((name) => name !== '')
  const folders = [...names.keys(), names.length].map((depth) => join(CGROUPS, ...names.slice(0, depth)))
  const quotas = folders.map((folder) => toCores(read(join(folder, 'cpu.max'))))
  return Math.max(1, Math.floor(Math.min(parallelism, ...quotas)))
}

/** @param text a quota and its period, or `max` and a period. */
function toCores (text: string): number {
  const [, quota, period] = /^(\d+) (\d+)/.exec(text) ?? []
  return quota === undefined ? Infinity : Number(quota) / Number(period)
}

/** Empty on a system without cgroups. */
function readIfThere (path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
