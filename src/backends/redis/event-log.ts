// The event log of many replicas. Each stream of a client is a Redis stream, which Redis expires.

import type { EventLog, EventLogLimits, LoggedEvent } from '../../events/event-log.ts'
import { toRedisError } from './redis-error.ts'
import { APPEND } from './scripts.ts'

interface RedisStreamCommands {
  call (command: string, ...args: Array<string | number>): Promise<unknown>
}

interface RedisEventLogOptions extends EventLogLimits {
  /** Begins the name of every key. */
  readonly prefix: string
}

/** Closing the log does not close the client. */
export function createRedisEventLog (client: RedisStreamCommands, options: RedisEventLogOptions): EventLog {
  const { prefix, maxEvents, ttlMs } = options
  const toKey = (stream: string) => `${prefix}:stream:{${stream}}`

  async function call (command: string, ...args: Array<string | number>): Promise<unknown> {
    try {
      return await client.call(command, ...args)
    } catch (error) {
      throw toRedisError(error)
    }
  }

  return {
    async append (stream, { position, text }) {
      // Not EVALSHA: a server without the script would reject one event and could then accept a later one.
      await call('EVAL', APPEND, 1, toKey(stream), maxEvents, `${position}-0`, text, ttlMs)
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
