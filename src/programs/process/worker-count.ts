// How many workers serve: the number of the setting, or one for each core that the service may use.

import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../ops/config/settings.ts'
import { isSharedUrl } from '../../platform/store/backends/url-schemes.ts'

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
 * it, of version 1 and 2. Rounded down: a worker without a core of its own adds nothing.
 */
export function countCores (parallelism = availableParallelism(), read = readIfThere): number {
  const groups = read('/proc/self/cgroup')
  const [, group = '/'] = /^0::(\/.*)$/m.exec(groups) ?? []
  const [, controllers = 'cpu', cpuGroup = '/'] = /^\d+:((?:[^:\n]+,)?cpu(?:,[^:\n]+)?):(\/.*)$/m.exec(groups) ?? []
  const quotas = [
    ...listFolders(CGROUPS, group).map((folder) => toCores(read(join(folder, 'cpu.max')))),
    ...listFolders(join(CGROUPS, controllers), cpuGroup).map((folder) => toCores(
      `${read(join(folder, 'cpu.cfs_quota_us')).trim()} ${read(join(folder, 'cpu.cfs_period_us'))}`
    ))
  ]
  return Math.max(1, Math.floor(Math.min(parallelism, ...quotas)))
}

/** Lists the folder of a cgroup and those around it. In a container that of its own cgroup is the root. */
function listFolders (root: string, group: string): string[] {
  const names = group.split('/').filter((name) => name !== '')
  return [...names.keys(), names.length].map((depth) => join(root, ...names.slice(0, depth)))
}

/** @param text a quota and its period. Without a quota it begins with `max`, or with -1. */
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
