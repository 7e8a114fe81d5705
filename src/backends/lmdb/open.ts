import { EVENT_LOG_LIMITS } from '../../events/event-log.ts'
import { toBackend, type OpenBackend } from '../backend.ts'
import { createMemoryEventBus } from '../memory/event-bus.ts'
import { createMemoryEventLog } from '../memory/event-log.ts'
import { createMemoryRelay } from '../memory/relay.ts'
import { openLmdbStateStore } from './state-store.ts'

/** `file:PATH` keeps records in a folder. All other parts end with the process. */
export const openLmdbBackend: OpenBackend = async (url, { eventLogLimits = EVENT_LOG_LIMITS }) => toBackend({
  store: openLmdbStateStore(url.slice('file:'.length)),
  bus: createMemoryEventBus(),
  relay: createMemoryRelay(),
  eventLog: createMemoryEventLog(eventLogLimits)
})
