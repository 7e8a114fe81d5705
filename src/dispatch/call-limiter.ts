// Limits the calls of each caller, and of all callers together: how many begin in a time, and how many run at
// once on this replica.

import { NO_LIMITS, type CallLimits } from '../access/call-limits.ts'
import { networkOf } from '../access/network.ts'
import { isAnonymous, ownerOf } from '../access/principal.ts'
import { limitReached, type LimitReached } from '../protocol/errors.ts'
import type { CallCounter, CountedRate, UsedRate } from '../state/call-counter.ts'
import { describeRate, describeRunning, groupsOf, type CallGroup } from './call-groups.ts'
import type { Caller } from './caller.ts'
import type { Limiter } from './limiter.ts'
import { createRunningCalls } from './running-calls.ts'

/** What a caller is told to wait for a call that runs, which may end at any time. In milliseconds. */
const RUNNING_WAIT_MS = 1000

/** A limit that refused a call. */
export interface LimitHit {
  readonly limit: 'rate' | 'running'
  readonly group: CallGroup
}

/** The rate of a group. */
interface GroupRate extends CountedRate { readonly group: CallGroup }

/**
 * The limits of the service and those of the called tool hold. Of the service's, the settings come before
 * server.yaml, and of two numbers of running calls the lower one holds.
 */
export function createCallLimiter (
  counter: CallCounter, settings: CallLimits, onHit?: (hit: LimitHit) => void
): Limiter {
  const runningCalls = createRunningCalls()

  /** Throws if a rate is used up. */
  function check (used: UsedRate<GroupRate> | undefined): void {
    if (used === undefined) return
    const { rate: { group, ...rate }, waitMs } = used
    onHit?.({ limit: 'rate', group })
    throw toError(group, describeRate(group, rate), waitMs, rate.perMs / 10)
  }

  return {
    admit ({ limits: own, subject }, { caller, lifetime, snapshot }) {
      if (own === undefined) return undefined
      const name = nameOf(caller)
      const groups = groupsOf(name, undefined, combine(settings, snapshot.limits))
      if (own !== NO_LIMITS) groups.push(...groupsOf(name, subject, own))
      const full = runningCalls.add(groups, lifetime)
      if (full !== undefined) {
        onHit?.({ limit: 'running', group: full })
        throw toError(full, describeRunning(full), RUNNING_WAIT_MS, RUNNING_WAIT_MS)
      }
      const rates = toRates(groups)
      if (rates.length === 0) return undefined
      const used = counter.count(rates)
      return used instanceof Promise ? used.then(check) : check(used)
    }
  }
}

/** @param jitterMs at most this is added to the wait, so that refused callers do not all return at once. */
function toError ({ isOfAll }: CallGroup, problem: string, waitMs: number, jitterMs: number): LimitReached {
  const seconds = Math.ceil((waitMs + Math.random() * jitterMs) / 1000)
  return limitReached(problem, isOfAll ? 503 : 429, seconds)
}

function toRates (groups: readonly CallGroup[]): GroupRate[] {
  const rates: GroupRate[] = []
  for (const group of groups) {
    const { key, rate } = group
    if (rate === undefined) continue
    // A time of another length is counted in other parts.
    rates.push({ calls: rate.calls, perMs: rate.perMs, key: `${key} /${rate.perMs}`, group })
  }
  return rates
}

function combine (settings: CallLimits, yaml: CallLimits): CallLimits {
  if (yaml === NO_LIMITS) return settings
  return {
    calls: settings.calls ?? yaml.calls,
    allCalls: settings.allCalls ?? yaml.allCalls,
    running: Math.min(settings.running ?? Infinity, yaml.running ?? Infinity),
    allRunning: Math.min(settings.allRunning ?? Infinity, yaml.allRunning ?? Infinity)
  }
}

/** Anonymous callers are told apart by their networks; those on this machine are one caller. */
function nameOf (caller: Caller): string {
  return isAnonymous(caller.principal) ? networkOf(caller) ?? 'anonymous' : ownerOf(caller.principal)
}
