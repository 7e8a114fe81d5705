// What is done to a record in Redis, each as one script: nothing comes between its steps, and nothing is ever half done.

/**
 * KEYS[1] is the record: a hash of its value `v`, its version `n`, its idle lifetime `i` and its end `e`, if it has one.
 * KEYS[2] holds the names of the owner's live records by when they expire. Only the limit hangs on it: so it is written
 * last and by `pcall`, and its failure is no failure of the operation. The value is written first, because Redis refuses
 * for want of memory only what a script writes first: what it has begun it lets it finish.
 * Times are milliseconds, by the clock of Redis.
 *
 * A use that follows soon after another writes nothing, because whatever is written is waited for: a record is given a
 * hundredth of its idle lifetime on top, a minute at most, and while all of that lifetime is still before it, it stays
 * as it is.
 */
const PRELUDE = `
local function clock ()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function keep (name, idle, ends)
  local last = tonumber(ends) or math.huge
  -- Asked before the clock is, so that the sum of both is never too early.
  local left = redis.call('PTTL', KEYS[1])
  local now = clock()
  -- Below 0 nothing is set to end it yet.
  if left >= 0 and now + left >= math.min(now + tonumber(idle), last) then
    -- Removes nothing, but is refused by a server that is no master any more: what that one has may be out of date.
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

/** ARGV: name, value, version, idle lifetime, end or '', limit. Returns when it expires, or one of the above. */
export const CREATE = `${PRELUDE}
if redis.call('EXISTS', KEYS[1]) == 1 then return ${TAKEN} end
local now = clock()
if redis.call('ZCOUNT', KEYS[2], '(' .. now, '+inf') >= tonumber(ARGV[6]) then return ${FULL} end
redis.call('HSET', KEYS[1], 'v', ARGV[2], 'n', ARGV[3], 'i', ARGV[4], 'e', ARGV[5])
redis.pcall('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
return keep(ARGV[1], ARGV[4], ARGV[5])
`

/** ARGV: name. Returns value, version and when it expires, or nil. */
export const READ = `${PRELUDE}
local record = redis.call('HMGET', KEYS[1], 'v', 'n', 'i', 'e')
if not record[1] then return false end
return { record[1], record[2], keep(ARGV[1], record[3], record[4]) }
`

/** ARGV: name, the version that is there, value, the next version. Returns when it expires, or nil. */
export const REPLACE = `${PRELUDE}
local record = redis.call('HMGET', KEYS[1], 'n', 'i', 'e')
if record[1] ~= ARGV[2] then return false end
redis.call('HSET', KEYS[1], 'v', ARGV[3], 'n', ARGV[4])
return keep(ARGV[1], record[2], record[3])
`

/** KEYS[1] is not looked at. Returns names and when each expires, in turn. */
export const LIST = `${PRELUDE}
return redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. string.format('%.0f', clock()), '+inf', 'WITHSCORES')
`

/** ARGV: name. Returns 1 or 0. */
export const DELETE = `
local deleted = redis.call('DEL', KEYS[1])
redis.pcall('ZREM', KEYS[2], ARGV[1])
return deleted
`
