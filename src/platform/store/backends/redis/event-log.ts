// The event log of many replicas. Each stream of a client is a Redis stream, which Redis expires.

import { clock } from '../../../../base/time.ts'
import { createLogRoom } from '../../../limits/log-room.ts'
import type { EventLog, EventLogLimits, LoggedEvent } from '../../changes/event-log.ts'
import { throwRedisError } from './redis-error.ts'
import { APPEND, type CommandRunner } from './scripts.ts'

interface RedisEventLogOptions extends EventLogLimits {
  /** Begins the name of every key. */
  readonly prefix: string
}

/** Closing the log does not close the client. */
export function createRedisEventLog (client: CommandRunner, options: RedisEventLogOptions): EventLog {
  const { prefix, maxEvents, ttlMs, maxBytes = 67_108_864 } = options
  const toKey = (stream: string) => `${prefix}:stream:{${stream}}`
  // Counts the streams that this process writes. Redis expires them by itself.
  const room = createLogRoom({ maxEvents, ttlMs, maxBytes, now: clock.monotonic })

  const call = async (command: string, ...args: Array<string | number>): Promise<unknown> => (
    await client.call(command, ...args).catch(throwRedisError)
  )

  return {
    async append (stream, { position, text }, holder) {
      const { excess } = room.add(stream, text.length, holder)
      // Not EVALSHA: a server without the script would reject one event and could then accept a later one.
      await call('EVAL', APPEND, 1, toKey(stream), maxEvents, `${position}-0`, text, ttlMs)
      // One key for each command: the keys may be on different nodes of a cluster.
      await Promise.all(excess.map(async (oldest) => await call('DEL', toKey(oldest))))
    },
    async read (stream, after) {
      const key = toKey(stream)
      const [exists, entries] = await Promise.all([
        call('EXISTS', key),
        call('XRANGE', key, `(${after}-0`, '+')
      ])
      if (exists !== 1 || !Array.isArray(entries)) return undefined
      return entries.map(readEntry)
    },
    async close () {}
  }
}

function readEntry (entry: unknown): LoggedEvent {
  const [id, fields]: unknown[] = Array.isArray(entry) ? entry : []
  const [, text]: unknown[] = Array.isArray(fields) ? fields : []
  if (typeof id !== 'string' || typeof text !== 'string') {
    throw new TypeError('the answer of Redis is no entry of a stream')
  }
  return { position: Number.parseInt(id, 10), text }
}
