// Limits the calls of each caller, and of all callers together: how many begin in a time, how many run at
// once on this replica, and how large each is. Limits how many other requests each caller sends.

import { ANONYMOUS_OWNER } from '../access/principal.ts'
import { random } from '../../base/time.ts'
import { argumentsTooLarge, limitReached, resultTooLarge, type LimitReached } from '../protocol/errors.ts'
import type { CallCounter, CountedRate, UsedRate } from './call-counter.ts'
import {
  describeRate, describeRunning, groupsOf, RunningCalls, type CallGroup, type RunningCall
} from './call-groups.ts'
import { combineLimits, NO_LIMITS, type CallLimits } from './call-limits.ts'
import { holderOf, type Sender } from './holder.ts'
import type { LocalCallCounter } from './local-call-counter.ts'
import type { Rate } from './rate.ts'

/** Retry-After when too many calls run, in milliseconds: the end of a call cannot be predicted. */
const RUNNING_WAIT_MS = 1000

/** The facts of a call that limits look at. */
interface LimitedCall {
  /** The limits of the primitive's own. Absent if no limit of calls holds for the method. */
  readonly limits?: CallLimits | undefined
  readonly subject?: string
  readonly callArguments?: { readonly args: object | undefined } | undefined
}

/** The request of a call. */
interface LimitedRequest {
  /** The limits of server.yaml. */
  readonly snapshot: { readonly limits: CallLimits }
  readonly caller: Sender
  readonly lifetime: RunningCall
}

export interface CallLimiter {
  /** Throws or rejects with a ProtocolError when a limit is reached. */
  admit (call: LimitedCall, request: LimitedRequest): void | Promise<void>
  /** Throws a ProtocolError when the caller has sent too many requests that are no calls: downloads. */
  admitOther (caller: Sender): void
  /** Throws a ProtocolError when a limit does not allow the result of the call. */
  admitResult (call: LimitedCall, result: string | Buffer, request: LimitedRequest): void
}

/** A limit that refused a call. */
export interface LimitHit {
  readonly limit: 'rate' | 'running' | 'arguments' | 'result'
  /** Whether the calls of all callers count. */
  readonly isOfAll: boolean
  /** Whether the limit is that of one tool. */
  readonly isOfTool: boolean
}

/** The rate of a group. */
interface GroupRate extends CountedRate { readonly group: CallGroup, readonly limit: Rate }

/** The rates that each caller has by default. Each replica counts alone: they cost no request to a store. */
export interface DefaultRates {
  readonly counter: LocalCallCounter
  /** The rate of calls. Holds if neither a setting nor server.yaml has one. */
  readonly calls: Rate
  /** The rate of other requests, such as lists. */
  readonly requests: Rate
}

interface CallLimiterOptions {
  /** None by default. */
  readonly defaults?: DefaultRates | undefined
  readonly onHit?: ((hit: LimitHit) => void) | undefined
}

/** The limits of the service and those of the called tool hold. */
export function createCallLimiter (
  counter: CallCounter, settings: CallLimits, { defaults, onHit }: CallLimiterOptions = {}
): CallLimiter {
  const runningCalls = new RunningCalls()
  let yaml = NO_LIMITS
  let service = settings

  /** Combined once for each server.yaml. */
  function serviceLimits ({ snapshot }: LimitedRequest): CallLimits {
    if (snapshot.limits !== yaml) {
      yaml = snapshot.limits
      service = combineLimits(settings, yaml)
    }
    return service
  }

  function tell (limit: 'rate' | 'running', { isOfAll, tool }: CallGroup): void {
    onHit?.({ limit, isOfAll, isOfTool: tool !== undefined })
  }

  /** Throws if a rate is used up. */
  function check (used: UsedRate<GroupRate> | undefined): void {
    if (used === undefined) return
    const { rate: { group, limit }, waitMs } = used
    tell('rate', group)
    throw toError(group, describeRate(group, limit), waitMs, limit.perMs / 10)
  }

  /** Throws if a default rate of the caller is used up. */
  function checkDefault (caller: string, unit: 'call' | 'request'): void {
    if (defaults === undefined) return
    const rate = unit === 'call' ? defaults.calls : defaults.requests
    const key = `${caller} ${unit}s`
    const group = { key, isOfAll: false, tool: undefined, thing: unit, rate, running: undefined }
    check(defaults.counter.count([{ calls: rate.calls, perMs: rate.perMs, key, group, limit: rate }]))
  }

  function refuse (
    limit: 'arguments' | 'result', isOfTool: boolean, excess: LimitReached | undefined
  ): void {
    if (excess === undefined) return
    onHit?.({ limit, isOfAll: false, isOfTool })
    throw excess
  }

  return {
    admit ({ limits: toolLimits, subject, callArguments }, request) {
      const name = nameOf(request.caller)
      if (toolLimits === undefined) return checkDefault(name, 'request')
      const limits = serviceLimits(request)
      const args = callArguments?.args
      if (args !== undefined) {
        refuse('arguments', false, findArgumentExcess(args, limits))
        refuse('arguments', true, findArgumentExcess(args, toolLimits))
      }
      if (limits.calls === undefined) checkDefault(name, 'call')
      const groups = groupsOf(name, undefined, limits)
      if (toolLimits !== NO_LIMITS) groups.push(...groupsOf(name, subject, toolLimits))
      const full = runningCalls.add(groups, request.lifetime)
      if (full !== undefined) {
        tell('running', full)
        throw toError(full, describeRunning(full), RUNNING_WAIT_MS, RUNNING_WAIT_MS)
      }
      const rates = toRates(groups)
      if (rates.length === 0) return undefined
      const used = counter.count(rates)
      return used instanceof Promise ? used.then(check) : check(used)
    },
    admitOther: (caller) => checkDefault(nameOf(caller), 'request'),
    admitResult ({ limits: toolLimits }, result, request) {
      if (toolLimits === undefined) return
      refuse('result', false, findResultExcess(result, serviceLimits(request)))
      refuse('result', true, findResultExcess(result, toolLimits))
    }
  }
}

/** @param jitterMs at most this is added to the wait, so that refused callers do not all return at once. */
function toError ({ isOfAll }: CallGroup, problem: string, waitMs: number, jitterMs: number): LimitReached {
  const seconds = Math.ceil((waitMs + random.number() * jitterMs) / 1000)
  return limitReached(problem, isOfAll ? 503 : 429, seconds)
}

function toRates (groups: readonly CallGroup[]): GroupRate[] {
  const rates: GroupRate[] = []
  for (const group of groups) {
    const { key, rate } = group
    if (rate === undefined) continue
    // A time of another length is counted in other parts.
    rates.push({ calls: rate.calls, perMs: rate.perMs, key: `${key} /${rate.perMs}`, group, limit: rate })
  }
  return rates
}

/** Anonymous callers are told apart by their networks; those on this machine are one caller. */
function nameOf (caller: Sender): string {
  return holderOf(caller)?.name ?? ANONYMOUS_OWNER
}

/** Returns `undefined` if the limits allow the arguments. */
export function findArgumentExcess (
  args: object, { argumentDepth, argumentBytes }: CallLimits
): LimitReached | undefined {
  if (argumentDepth !== undefined && isDeeper(args, argumentDepth)) {
    return argumentsTooLarge(`the arguments may be nested ${argumentDepth} levels deep`)
  }
  return argumentBytes !== undefined && Buffer.byteLength(JSON.stringify(args)) > argumentBytes
    ? argumentsTooLarge(`the arguments may have ${argumentBytes} bytes of JSON`)
    : undefined
}

function isDeeper (value: unknown, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return maxDepth === 0 || Object.values(value).some((member) => isDeeper(member, maxDepth - 1))
}

/** Returns `undefined` if the limits allow the result. */
function findResultExcess (
  result: string | Buffer, { resultBytes }: CallLimits
): LimitReached | undefined {
  // A character has at most three bytes. Most results are so short that they need not be measured.
  if (resultBytes === undefined || result.length * 3 <= resultBytes) return undefined
  return Buffer.byteLength(result) > resultBytes
    ? resultTooLarge(`a result may have ${resultBytes} bytes of JSON`)
    : undefined
}
