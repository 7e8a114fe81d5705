import { EVENT_LOG_LIMITS } from '../../events/event-log.ts'
import { toOpenedBackend, type OpenBackend } from '../backend.ts'
import { createMemoryEventBus } from '../memory/event-bus.ts'
import { createMemoryEventLog } from '../memory/event-log.ts'
import { createMemoryRelay } from '../memory/relay.ts'
import { openLmdbStateStore } from './state-store.ts'

/** `file:PATH` keeps records in a folder. The bus, the relay and the log exist in this process only. */
export const openLmdbBackend: OpenBackend = async (url, { prefix, eventLogLimits = EVENT_LOG_LIMITS }) => {
  return toOpenedBackend({
    store: openLmdbStateStore(url.slice('file:'.length), { prefix }),
    bus: createMemoryEventBus(),
    relay: createMemoryRelay(),
    eventLog: createMemoryEventLog(eventLogLimits)
  })
}
