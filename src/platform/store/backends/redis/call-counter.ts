// The call counter of all replicas. While Redis is away, each replica counts its own calls: those that Redis
// admitted count too, so a replica never admits more than the rate.

import { hash } from 'node:crypto'
import { withinDeadline } from '../../../../base/deadline.ts'
import { clock } from '../../../../base/time.ts'
import { PARTS, type CallCounter, type CountedRate, type UsedRate } from '../../../limits/call-counter.ts'
import type { LocalCallCounter } from '../../../limits/local-call-counter.ts'
import { toRedisError } from './redis-error.ts'
import { COUNT, runScript, type ScriptRunner } from './scripts.ts'

interface RedisCallCounterOptions {
  /** Begins the name of every key. */
  readonly prefix: string
  /** Counts while Redis does not. */
  readonly local: LocalCallCounter
  /** Called with each error of Redis. */
  onError (error: unknown): void
}

/**
 * How long a call may wait for its count, in milliseconds. Much shorter than the timeout of a command: the
 * tool may then wait for its state, and fails within two seconds all the same.
 */
const DEADLINE_MS = 300
/** A process that is busy reads the answers of Redis late. It waits again, this many times at most. */
const MAX_WAITS = 5
/** A timer that fires this much late tells of a busy process, in milliseconds. */
const BUSY_MS = 20

class CountedLate extends Error {}
const toLateError = () => new CountedLate(`calls were not counted within ${DEADLINE_MS} ms`)

export function createRedisCallCounter (
  client: ScriptRunner, { prefix, local, onError }: RedisCallCounterOptions
): CallCounter {
  // All keys are on one node of a cluster: a call is counted for all of its rates or for none. The key is a
  // hash, because it may have an address.
  const toKey = ({ key }: CountedRate) =>
    `${prefix}:{calls}:${hash('sha256', key, 'base64url')}`

  return {
    async count (rates) {
      try {
        const args = rates.flatMap(({ calls, perMs }) => [calls, perMs / PARTS])
        const counting = runScript(client, COUNT, rates.map(toKey), args)
        const used = readUsed(await whileBusy(counting), rates)
        if (used === undefined) local.note(rates)
        return used
      } catch (error) {
        onError(toRedisError(error))
        return local.count(rates)
      }
    }
  }
}

/** Does not take the process's own delay for silence of Redis: each replica would admit the whole rate. */
async function whileBusy<T> (counting: Promise<T>): Promise<T> {
  for (let waits = 1; ; waits++) {
    const begunAt = clock.monotonic()
    try {
      return await withinDeadline(counting, DEADLINE_MS, toLateError)
    } catch (error) {
      const delayMs = clock.monotonic() - begunAt - DEADLINE_MS
      if (!(error instanceof CountedLate) || delayMs < BUSY_MS || waits === MAX_WAITS) throw error
    }
  }
}

/**
 * Loads the script before calls come in a burst. Its key expires at once. The first call tells of a failure.
 */
export function loadCount (client: ScriptRunner, prefix: string): void {
  runScript(client, COUNT, [`${prefix}:{calls}:`], [1, 1]).catch(() => {})
}

function readUsed<R extends CountedRate> (reply: unknown, rates: readonly R[]): UsedRate<R> | undefined {
  if (reply === null) return undefined
  const [at, waitMs]: unknown[] = Array.isArray(reply) ? reply : []
  const rate = typeof at === 'number' ? rates[at] : undefined
  if (rate === undefined || typeof waitMs !== 'number') {
    throw new TypeError('the answer of Redis is no used rate')
  }
  return { rate, waitMs }
}
