// The call counter of all replicas, in Redis.

import { withinDeadline } from '../../../../base/deadline.ts'
import { clock } from '../../../../base/time.ts'
import { PARTS, type CallCounter } from '../../../limits/call-counter.ts'
import type { LocalCallCounter } from '../../../limits/local-call-counter.ts'
import { COUNT_MS, createSharedCallCounter, toSharedKey, type UsedPlace } from '../shared-call-counter.ts'
import { throwRedisError } from './redis-error.ts'
import { COUNT, runScript, type ScriptRunner } from './scripts.ts'

interface RedisCallCounterOptions {
  /** Begins the name of every key. */
  readonly prefix: string
  /** Counts while Redis does not. */
  readonly local: LocalCallCounter
  /** Called with each error of Redis. */
  onError (error: unknown): void
}

/** A process that is busy reads the answers of Redis late. It waits again, this many times at most. */
const MAX_WAITS = 5
/** A timer that fires this much late tells of a busy process, in milliseconds. */
const BUSY_MS = 20

class CountedLate extends Error {}
const toLateError = () => new CountedLate(`calls were not counted within ${COUNT_MS} ms`)

export function createRedisCallCounter (
  client: ScriptRunner, { prefix, local, onError }: RedisCallCounterOptions
): CallCounter {
  return createSharedCallCounter({
    local,
    onError,
    async ask (rates) {
      // All keys are on one node of a cluster: a call is counted for all of its rates or for none.
      const keys = rates.map((rate) => `${prefix}:{calls}:${toSharedKey(rate)}`)
      const args = rates.flatMap(({ calls, perMs }) => [calls, perMs / PARTS])
      return await whileBusy(runScript(client, COUNT, keys, args)).then(readUsed).catch(throwRedisError)
    }
  })
}

/** Does not take the process's own delay for silence of Redis: each replica would admit the whole rate. */
async function whileBusy<T> (counting: Promise<T>): Promise<T> {
  for (let waits = 1; ; waits++) {
    const begunAt = clock.monotonic()
    try {
      return await withinDeadline(counting, COUNT_MS, toLateError)
    } catch (error) {
      const delayMs = clock.monotonic() - begunAt - COUNT_MS
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

function readUsed (reply: unknown): UsedPlace | undefined {
  if (reply === null) return undefined
  const [place, waitMs]: unknown[] = Array.isArray(reply) ? reply : []
  if (typeof place === 'number' && typeof waitMs === 'number') return { place, waitMs }
  throw new TypeError('the answer of Redis is no used rate')
}
