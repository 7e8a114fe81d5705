// Due times in Redis or Valkey: one sorted set, by the clock of Redis.

import { readPlace, type DueEntry, type DueTimes } from '../../records/due-times.ts'
import { throwUnavailable } from './redis-error.ts'
import type { ReplicaAcks } from './replica-acks.ts'
import { runScript, toScript, type Argument, type Script, type ScriptRunner } from './scripts.ts'

interface RedisDueTimesOptions {
  /** Begins the name of the key. */
  readonly prefix: string
  /** Absent if what Redis has written is not lost. A task whose due time is lost is never run again. */
  readonly acks?: ReplicaAcks | undefined
}

/** How long generations are kept after the last one, in milliseconds: for longer than any task runs. */
const KEEP_MS = 5_184_000_000

/**
 * KEYS[1] is a sorted set of entries by the time when they are due, KEYS[2] a hash of their generations.
 * ARGV: entry, milliseconds from now, generation, how long the hash is kept, milliseconds from now for an
 * earlier generation. Returns the time.
 */
const SET_DUE = toScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local present = redis.call('ZSCORE', KEYS[1], ARGV[1])
local generation = present and tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or 0) or 0
local isLate = generation > tonumber(ARGV[3])
local due = now + (isLate and ARGV[5] or ARGV[2])
if isLate and due >= tonumber(present) then
  -- Written, so that the caller waits until the later generation is replicated.
  redis.call('PEXPIRE', KEYS[2], ARGV[4])
  return now
end
redis.call('ZADD', KEYS[1], string.format('%.0f', due), ARGV[1])
redis.call('HSET', KEYS[2], ARGV[1], string.format('%.0f', math.max(generation, ARGV[3])))
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return now
`)

/** KEYS are the same. ARGV: entry. */
const REMOVE_DUE = toScript(`
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
`)

/**
 * KEYS[1] is the same set. ARGV: the most entries, and after how many milliseconds each of them is due again.
 * Returns the time, in how many milliseconds the next entry is due, or -1, and then the entries that are due.
 */
const TAKE_DUE = toScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local taken = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[1])
local held = string.format('%.0f', now + ARGV[2])
for _, entry in ipairs(taken) do redis.call('ZADD', KEYS[1], held, entry) end
local next = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
table.insert(taken, 1, next[2] and string.format('%.0f', math.max(0, next[2] - now)) or '-1')
table.insert(taken, 1, string.format('%.0f', now))
return taken
`)

/** Makes triples of entry, milliseconds until it is due, and generation, of the pairs that Redis returns. */
const WITH_TIMES = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function toTriples (pairs, triples)
  for at = 1, #pairs, 2 do
    triples[#triples + 1] = pairs[at]
    triples[#triples + 1] = string.format('%.0f', pairs[at + 1] - now)
    triples[#triples + 1] = redis.call('HGET', KEYS[2], pairs[at]) or '0'
  end
  return triples
end
`

/** KEYS are the same. ARGV: the most entries, and in how many milliseconds they are due. Returns triples. */
const PEEK_DUE = toScript(`${WITH_TIMES}
local last = string.format('%.0f', now + ARGV[2])
return toTriples(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', last, 'WITHSCORES', 'LIMIT', 0, ARGV[1]), {})
`)

/** KEYS are the same. ARGV: cursor, about how many entries. Returns the next cursor, then triples. */
const LIST_DUE = toScript(`${WITH_TIMES}
local page = redis.call('ZSCAN', KEYS[1], ARGV[1], 'COUNT', ARGV[2])
return toTriples(page[2], { page[1] })
`)

export function createRedisDueTimes (
  client: ScriptRunner, { prefix, acks }: RedisDueTimesOptions
): DueTimes {
  // The braces keep the key apart from those of records, whose braces hold an owner.
  const keys = [`${prefix}:{due}:times`, `${prefix}:{due}:generations`]
  const attempt = async <T>(work: () => Promise<T>): Promise<T> => await work().catch(throwUnavailable)

  async function readTexts (script: Script, ...args: Argument[]): Promise<string[]> {
    const reply = await runScript(client, script, keys, args)
    if (!Array.isArray(reply)) throw new TypeError('the answer of Redis is no list')
    return reply.map(String)
  }

  return {
    set: async (entry, inMs, generation, lateMs = inMs) => await attempt(async () => {
      const args = [entry, Math.ceil(inMs), generation, KEEP_MS, Math.ceil(lateMs)]
      const now = Number(await runScript(client, SET_DUE, keys, args))
      await acks?.confirm(true)
      return now
    }),
    async remove (entry) { await attempt(async () => await runScript(client, REMOVE_DUE, keys, [entry])) },
    take: async (limit, holdMs) => await attempt(async () => {
      const [now, next, ...entries] = await readTexts(TAKE_DUE, limit, Math.ceil(holdMs))
      return { entries, nextInMs: next === '-1' ? undefined : Number(next), now: Number(now) }
    }),
    peek: async (limit, withinMs) => await attempt(
      async () => toEntries(await readTexts(PEEK_DUE, limit, Math.ceil(withinMs)))
    ),
    async list (from = '0', limit) {
      readPlace(from)
      return await attempt(async () => {
        const [next = '0', ...triples] = await readTexts(LIST_DUE, from, limit)
        return { entries: toEntries(triples), next: next === '0' ? undefined : next }
      })
    }
  }
}

function toEntries (triples: readonly string[]): DueEntry[] {
  const entries: DueEntry[] = []
  for (let at = 0; at < triples.length; at += 3) {
    const [entry = '', inMs, generation] = triples.slice(at, at + 3)
    entries.push({ entry, inMs: Number(inMs), generation: Number(generation) })
  }
  return entries
}
