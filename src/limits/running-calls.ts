// Counts the calls that run on this replica.

import type { CallGroup } from './call-groups.ts'

/** A call that runs. */
export interface RunningCall { onEnd (listener: () => void): void }

export interface RunningCalls {
  /**
   * Counts a call in each of the groups until its lifetime ends. If one of them is full, the call counts in
   * none, and the full group is returned.
   */
  add (groups: readonly CallGroup[], lifetime: RunningCall): CallGroup | undefined
}

export function createRunningCalls (): RunningCalls {
  /** Groups without a running call have no entry. */
  const counts = new Map<string, number>()

  function change (groups: readonly CallGroup[], by: 1 | -1): void {
    for (const { key, running } of groups) {
      if (running === undefined) continue
      const count = (counts.get(key) ?? 0) + by
      if (count === 0) counts.delete(key)
      else counts.set(key, count)
    }
  }

  return {
    add (groups, lifetime) {
      for (const group of groups) {
        if (group.running !== undefined && (counts.get(group.key) ?? 0) >= group.running) return group
      }
      change(groups, 1)
      lifetime.onEnd(() => change(groups, -1))
      return undefined
    }
  }
}
