// The call counter of all replicas. While Redis is away, each replica counts its own calls.

import { hash } from 'node:crypto'
import { withinDeadline } from '../../../base/deadline.ts'
import { PARTS, type CallCounter, type CountedRate, type UsedRate } from '../../../limits/call-counter.ts'
import { toRedisError } from './redis-error.ts'
import { COUNT, runScript, type ScriptRunner } from './scripts.ts'

interface RedisCallCounterOptions {
  /** Begins the name of every key. */
  readonly prefix: string
  /** Counts while Redis does not. */
  readonly local: CallCounter
  /** Called with each error of Redis. */
  onError (error: unknown): void
}

/**
 * How long a call may wait for its count, in milliseconds. Much shorter than the timeout of a command: the
 * tool may then wait for its state, and fails within two seconds all the same.
 */
const DEADLINE_MS = 300
const toLateError = () => new Error(`calls were not counted within ${DEADLINE_MS} ms`)

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
        return readUsed(await withinDeadline(counting, DEADLINE_MS, toLateError), rates)
      } catch (error) {
        onError(toRedisError(error))
        return await local.count(rates)
      }
    }
  }
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
