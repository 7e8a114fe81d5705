import { unlessAborted } from '../../../../base/deadline.ts'
import { createOutageLog } from '../../../../base/outage-log.ts'
import { createLocalCallCounter } from '../../../limits/local-call-counter.ts'
import { EVENT_LOG_LIMITS } from '../../changes/event-log.ts'
import { START_WAIT_MS } from '../../records/start-wait.ts'
import { toOpenedBackend, type OpenBackend } from '../backend.ts'
import { openRedisBroadcast } from './broadcast.ts'
import { createRedisCallCounter, loadCount } from './call-counter.ts'
import { openRedis } from './connection.ts'
import { createRedisDueTimes } from './due-times.ts'
import { createRedisEventLog } from './event-log.ts'
import { toProbeOwners } from './probe-owners.ts'
import { ReplicaAcks } from './replica-acks.ts'
import { openRedisStateStore } from './state-store.ts'

/** All members share two connections: one for commands, one subscriber. */
export const openRedisBackend: OpenBackend = async (url, options) => {
  const { log, prefix, eventLogLimits = EVENT_LOG_LIMITS, signal } = options
  const redis = openRedis(url, { onError: createOutageLog({ log, message: 'Redis is not available' }) })
  // All databases of a server share its channels, so the name of the channel contains the database.
  const channelPrefix = redis.db === 0 ? prefix : `${prefix}:${redis.db}`
  try {
    await unlessAborted(redis.ready(START_WAIT_MS), signal)
    const broadcast = await openRedisBroadcast(redis, {
      channel: `${channelPrefix}:broadcast`,
      onError: createOutageLog({ log, message: 'changes and messages are not passed on to other replicas' })
    }).catch((error: unknown) => { throw redis.toUnreachable(error) })
    const acks = redis.isNamed && new ReplicaAcks(redis.commands, prefix, redis.isNamed)
    const store = openRedisStateStore(redis.commands, {
      prefix, acks, findProbeOwners: () => toProbeOwners(redis.commands)
    })
    const eventLog = createRedisEventLog(redis.commands, { prefix, ...eventLogLimits })
    const callCounter = createRedisCallCounter(redis.commands, {
      prefix,
      local: createLocalCallCounter(),
      onError: createOutageLog({ log, message: 'each replica counts its own calls for limits' })
    })
    loadCount(redis.commands, prefix)
    const dueTimes = createRedisDueTimes(redis.commands, { prefix, acks })
    return toOpenedBackend({ store, broadcast, eventLog, callCounter, dueTimes }, redis.close)
  } catch (error) {
    // Without it, the driver would keep trying to connect.
    await redis.close()
    throw error
  }
}
