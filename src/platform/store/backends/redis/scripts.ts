// The Lua scripts that read and write Redis. Each is atomic: no other command runs between its steps.

import { createHash } from 'node:crypto'
import { PARTS } from '../../../limits/call-counter.ts'

export type Argument = string | number | Buffer

/** A server that has the script runs it by its digest. */
export interface Script { readonly text: string, readonly digest: string }

export interface CommandRunner {
  call (command: string, ...args: Array<string | number>): Promise<unknown>
}

export interface ScriptRunner {
  callBuffer (command: string, ...args: Argument[]): Promise<unknown>
}

export function toScript (text: string): Script {
  return { text, digest: createHash('sha1').update(text).digest('hex') }
}

/**
 * KEYS[1] is the record: a hash of the value `v`, the version `n`, the idle lifetime `i` and the end `e`,
 * which may be ''. KEYS[2] is a sorted set of the names of the owner's live records, by expiry. Times are
 * milliseconds, by the clock of Redis.
 *
 * The value is written first, because Redis checks memory only before a script's first write. Only the limit
 * and the list use the sorted set. It is written last and by `pcall`, so an error there does not fail the
 * operation.
 *
 * Callers wait for writes, so a use soon after another one writes nothing. Each write adds a hundredth of the
 * idle lifetime, at most a minute, to the record's lifetime. A use extends the lifetime only if less than the
 * idle lifetime is left.
 */
const PRELUDE = `
local function clock ()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function extend (name, idle, ends)
  local last = tonumber(ends) or math.huge
  -- Read before the clock, so that the sum is never before the true expiry.
  local left = redis.call('PTTL', KEYS[1])
  local now = clock()
  -- Negative for a new record, which has no expiry yet.
  if left >= 0 and now + left >= math.min(now + tonumber(idle), last) then
    -- Removes nothing. It fails on a former master, which may have old values and must not serve them.
    redis.call('HDEL', KEYS[1], '')
    return now + left
  end
  local expires = math.min(now + tonumber(idle) + math.min(math.floor(idle / 100), 60000), last)
  local text = string.format('%.0f', expires)
  redis.call('PEXPIREAT', KEYS[1], text)
  redis.pcall('ZADD', KEYS[2], text, name)
  local latest = redis.pcall('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')
  if latest[2] then redis.pcall('PEXPIREAT', KEYS[2], latest[2]) end
  return expires
end
`

export const TAKEN = -1
export const FULL = -2

/**
 * ARGV: name, value, version, idle lifetime, end or '', limit. Returns the expiry, TAKEN or FULL.
 *
 * Redis may evict a record and leave its name in the sorted set. If the owner is full, the script looks for
 * such names among a hundred of them: an owner may have millions, and other commands wait for the script.
 */
export const CREATE = toScript(`${PRELUDE}
local function findLost (name, now, live)
  local lost = {}
  local last = redis.call('ZCARD', KEYS[2]) - 1
  local first = last + 1 - live
  if live > 100 then first = first + redis.call('TIME')[2] % (live - 99) end
  for _, other in ipairs(redis.call('ZRANGE', KEYS[2], first, math.min(first + 99, last))) do
    if other ~= name and redis.call('EXISTS', KEYS[2] .. ':' .. other) == 0 then lost[#lost + 1] = other end
  end
  local expires = redis.call('ZSCORE', KEYS[2], name)
  if expires and tonumber(expires) > now then lost[#lost + 1] = name end
  return lost
end

if redis.call('EXISTS', KEYS[1]) == 1 then return ${TAKEN} end
local now = clock()
local limit = tonumber(ARGV[6])
local live = redis.call('ZCOUNT', KEYS[2], '(' .. now, '+inf')
local lost = {}
if live >= limit then lost = findLost(ARGV[1], now, live) end
local isFull = live - #lost >= limit
if not isFull then redis.call('HSET', KEYS[1], 'v', ARGV[2], 'n', ARGV[3], 'i', ARGV[4], 'e', ARGV[5]) end
if #lost > 0 then redis.pcall('ZREM', KEYS[2], unpack(lost)) end
if isFull then return ${FULL} end
redis.pcall('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
return extend(ARGV[1], ARGV[4], ARGV[5])
`)

/** ARGV: name. Returns value, version and expiry, or nil. */
export const READ = toScript(`${PRELUDE}
local record = redis.call('HMGET', KEYS[1], 'v', 'n', 'i', 'e')
if not record[1] then return false end
return { record[1], record[2], extend(ARGV[1], record[3], record[4]) }
`)

/** ARGV: name. Returns what READ returns. Is no use. */
export const PEEK = toScript(`${PRELUDE}
local record = redis.call('HMGET', KEYS[1], 'v', 'n')
if not record[1] then return false end
local left = redis.call('PTTL', KEYS[1])
-- Fails on a former master, as in \`extend\`.
redis.call('HDEL', KEYS[1], '')
return { record[1], record[2], clock() + left }
`)

/**
 * ARGV: name, the current version, value, the next version, and for a new lifetime its idle lifetime and its
 * end or ''. Returns the expiry, or nil.
 */
export const REPLACE = toScript(`${PRELUDE}
local record = redis.call('HMGET', KEYS[1], 'n', 'i', 'e')
if record[1] ~= ARGV[2] then return false end
redis.call('HSET', KEYS[1], 'v', ARGV[3], 'n', ARGV[4])
if ARGV[5] then
  redis.call('HSET', KEYS[1], 'i', ARGV[5], 'e', ARGV[6])
  -- A record without an expiry gets a new one, also if it is sooner.
  redis.call('PERSIST', KEYS[1])
  return extend(ARGV[1], ARGV[5], ARGV[6])
end
return extend(ARGV[1], record[2], record[3])
`)

/** ARGV: name, version. Returns 1 if the record has this version, else 0. Is no use. */
export const CONFIRM = toScript(`
local version = redis.call('HGET', KEYS[1], 'n')
-- Fails on a former master, as in \`extend\`.
redis.call('HDEL', KEYS[1], '')
return version == ARGV[2] and 1 or 0
`)

/**
 * ARGV: lifetime. Always writes something that replicas get. PEXPIRE comes first also because it needs no
 * memory: Redis then checks no memory before SET.
 */
export const MARK = toScript(`
if redis.call('PEXPIRE', KEYS[1], ARGV[1]) == 0 then redis.call('SET', KEYS[1], '', 'PX', ARGV[1]) end
`)

/**
 * KEYS[1] is not used. ARGV: '', cursor. Returns the next cursor, then names, each followed by the expiry of
 * its record. Names of evicted records are left out: one EXISTS counts all records of the page, and the
 * script checks them one by one only if some are missing.
 */
export const LIST = toScript(`${PRELUDE}
local page = redis.call('ZSCAN', KEYS[2], ARGV[2], 'COUNT', 1000)
local now = clock()
local found, keys = {}, {}
for at = 1, #page[2], 2 do
  if tonumber(page[2][at + 1]) > now then
    found[#found + 1] = at
    keys[#keys + 1] = KEYS[2] .. ':' .. page[2][at]
  end
end
local live = { page[1] }
local areAll = #keys == 0 or redis.call('EXISTS', unpack(keys)) == #keys
for index, at in ipairs(found) do
  if areAll or redis.call('EXISTS', keys[index]) == 1 then
    live[#live + 1] = page[2][at]
    live[#live + 1] = page[2][at + 1]
  end
end
return live
`)

/** ARGV: name. Returns 1 or 0. */
export const DELETE = toScript(`
local deleted = redis.call('DEL', KEYS[1])
redis.pcall('ZREM', KEYS[2], ARGV[1])
return deleted
`)

/**
 * KEYS[1] is a stream. ARGV: maximum number of events, id, text, lifetime. A stream always has a lifetime.
 */
export const APPEND = `
redis.call('XADD', KEYS[1], 'MAXLEN', ARGV[1], ARGV[2], 'e', ARGV[3])
return redis.call('PEXPIRE', KEYS[1], ARGV[4])
`

/**
 * KEYS are hashes: the calls of a key by the parts of the time, by the clock of Redis. ARGV: for each key how
 * many calls its rate allows, and the milliseconds of a part. Counts a call for all keys and returns nil, or
 * for none: then the position of the key with the longest wait, and the wait in milliseconds.
 */
export const COUNT = toScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local longest, used = 0, nil
for at, key in ipairs(KEYS) do
  local calls, part = tonumber(ARGV[2 * at - 1]), tonumber(ARGV[2 * at])
  local oldest = math.floor(now / part) - ${PARTS}
  local fields = redis.call('HGETALL', key)
  local total, over, live = 0, {}, {}
  for field = 1, #fields, 2 do
    local found = { number = tonumber(fields[field]), calls = tonumber(fields[field + 1]) }
    if found.number < oldest then
      over[#over + 1] = fields[field]
    else
      live[#live + 1] = found
      total = total + found.calls
    end
  end
  if #over > 0 then redis.call('HDEL', key, unpack(over)) end
  table.sort(live, function (a, b) return a.number < b.number end)
  for _, found in ipairs(live) do
    if total < calls then break end
    total = total - found.calls
    local wait = (found.number + ${PARTS + 1}) * part - now
    if total < calls and wait > longest then longest, used = wait, at end
  end
end
if used then return { used - 1, math.ceil(longest) } end
for at, key in ipairs(KEYS) do
  local part = tonumber(ARGV[2 * at])
  redis.call('HINCRBY', key, string.format('%.0f', math.floor(now / part)), 1)
  redis.call('PEXPIRE', key, math.ceil(part * ${PARTS + 1}))
end
return nil
`)

/**
 * The time in milliseconds, with microseconds as its fraction, as a text. KEYS[1] is not used: it selects the
 * node of a cluster, so that all replicas ask the same one.
 */
export const TIME = `
local time = redis.call('TIME')
return string.format('%.3f', time[1] * 1000 + time[2] / 1000)
`

/** A cluster finds the node by the text in braces in the keys: it must be the same in all of them. */
export async function runScript (
  client: ScriptRunner, { text, digest }: Script, keys: readonly string[], args: readonly Argument[]
): Promise<unknown> {
  const keysAndArguments = [keys.length, ...keys, ...args]
  try {
    return await client.callBuffer('EVALSHA', digest, ...keysAndArguments)
  } catch (error) {
    // A server without the script has done nothing, so the command may be sent again.
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error
    return await client.callBuffer('EVAL', text, ...keysAndArguments)
  }
}
