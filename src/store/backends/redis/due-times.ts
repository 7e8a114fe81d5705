// Due times in Redis or Valkey: one sorted set, by the clock of Redis.

import type { DueTimes } from '../../records/due-times.ts'
import { throwUnavailable } from './redis-error.ts'
import type { ReplicaAcks } from './replica-acks.ts'
import { REMOVE_DUE, runScript, SET_DUE, TAKE_DUE, type ScriptRunner } from './scripts.ts'

interface RedisDueTimesOptions {
  /** Begins the name of the key. */
  readonly prefix: string
  /** Absent if what Redis has written is not lost. A task whose due time is lost is never run again. */
  readonly acks?: ReplicaAcks | undefined
}

/** How long generations are kept after the last one, in milliseconds: for longer than any task runs. */
const KEEP_MS = 5_184_000_000

export function createRedisDueTimes (
  client: ScriptRunner, { prefix, acks }: RedisDueTimesOptions
): DueTimes {
  // The braces keep the key apart from those of records, whose braces hold an owner.
  const key = `${prefix}:{due}:times`
  const keys = [key, `${prefix}:{due}:generations`]
  const attempt = async <T>(work: () => Promise<T>): Promise<T> => await work().catch(throwUnavailable)

  return {
    set: async (entry, inMs, generation) => await attempt(async () => {
      const args = [entry, Math.ceil(inMs), generation, KEEP_MS]
      const now = Number(await runScript(client, SET_DUE, keys, args))
      await acks?.confirm(true)
      return now
    }),
    async remove (entry) { await attempt(async () => await runScript(client, REMOVE_DUE, keys, [entry])) },
    take: async (limit, holdMs) => await attempt(async () => {
      const reply = await runScript(client, TAKE_DUE, [key], [limit, Math.ceil(holdMs)])
      if (!Array.isArray(reply)) throw new TypeError('the answer of Redis is no list')
      const [now, next, ...entries] = reply.map(String)
      return { entries, nextInMs: next === '-1' ? undefined : Number(next), now: Number(now) }
    })
  }
}
