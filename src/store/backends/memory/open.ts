import { createLocalCallCounter } from '../../../limits/local-call-counter.ts'
import { EVENT_LOG_LIMITS } from '../../changes/event-log.ts'
import { createLocalBroadcast } from '../../changes/local-broadcast.ts'
import { createLocalDueTimes } from '../../records/local-due-times.ts'
import { toOpenedBackend, type OpenBackend } from '../backend.ts'
import { createMemoryEventLog } from './event-log.ts'
import { createMemoryStateStore } from './state-store.ts'

/** `memory:` exists in this process only. No other service shares it, so the prefix is not used. */
export const openMemoryBackend: OpenBackend = async (_url, options) => {
  const { eventLogLimits = EVENT_LOG_LIMITS, clock = {} } = options
  return toOpenedBackend({
    store: createMemoryStateStore(clock),
    broadcast: createLocalBroadcast(),
    eventLog: createMemoryEventLog({ ...eventLogLimits, ...clock }),
    callCounter: createLocalCallCounter(clock),
    dueTimes: createLocalDueTimes(clock)
  })
}
