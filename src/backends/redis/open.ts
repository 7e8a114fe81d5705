import { EVENT_LOG_LIMITS } from '../../events/event-log.ts'
import { toOpenedBackend, type OpenBackend } from '../backend.ts'
import { createOutageLog } from '../outage-log.ts'
import { openRedis } from './connection.ts'
import { openRedisEventBus } from './event-bus.ts'
import { createRedisEventLog } from './event-log.ts'
import { openRedisRelay } from './relay.ts'
import { openRedisStateStore } from './state-store.ts'

/** How long Redis may take to be reached when the service starts, in milliseconds. */
const CONNECT_DEADLINE_MS = 5000

/** All parts share two connections: one for commands, one that listens. */
export const openRedisBackend: OpenBackend = async (url, options) => {
  const { log, prefix, eventLogLimits = EVENT_LOG_LIMITS } = options
  const redis = openRedis(url, { onError: createOutageLog({ log, message: 'Redis is not available' }) })
  // A server has one set of channels for all of its databases.
  const place = redis.db === 0 ? prefix : `${prefix}:${redis.db}`
  try {
    await redis.ready(CONNECT_DEADLINE_MS)
    const bus = await openRedisEventBus(redis, {
      channel: `${place}:events`,
      onError: createOutageLog({ log, message: 'events are not passed on to other replicas' })
    })
    const relay = await openRedisRelay(redis, {
      // The name is that of earlier releases, whose replicas may run beside this one.
      channel: `${place}:sessions`,
      onError: createOutageLog({ log, message: 'messages are not passed on to other replicas' })
    })
    const store = openRedisStateStore(redis.commands, { prefix })
    const eventLog = createRedisEventLog(redis.commands, { prefix, ...eventLogLimits })
    return toOpenedBackend({ store, bus, relay, eventLog }, redis.close)
  } catch (error) {
    // An open connection tries to connect again and again.
    await redis.close()
    throw error
  }
}
