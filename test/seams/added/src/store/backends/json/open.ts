import { createLocalCallCounter } from '../../../limits/local-call-counter.ts'
import type { ChangeEvent } from '../../changes/change-event.ts'
import {
  EVENT_LOG_LIMITS, type EventLog, type EventLogLimits, type LoggedEvent
} from '../../changes/event-log.ts'
import { createLocalListeners } from '../../changes/local-listeners.ts'
import type { RelayMessage } from '../../changes/relay.ts'
import { createLocalDueTimes } from '../../records/local-due-times.ts'
import { toOpenedBackend, type OpenBackend } from '../backend.ts'
import { openJsonStateStore } from './state-store.ts'

export const openJsonBackend: OpenBackend = async (url, { eventLogLimits = EVENT_LOG_LIMITS }) => {
  const [events, messages] = [createLocalListeners<ChangeEvent>(), createLocalListeners<RelayMessage>()]
  return toOpenedBackend({
    store: openJsonStateStore(url.slice('json:'.length)),
    bus: {
      isConnected: true,
      publish: async (event) => events.tell(event),
      subscribe: (listener) => events.add(listener),
      close: async () => events.close()
    },
    relay: {
      isConnected: true,
      send: async (message) => messages.tell(message),
      listen: (listener) => messages.add(listener),
      time: async () => Date.now(),
      close: async () => messages.close()
    },
    eventLog: createEventLog(eventLogLimits),
    callCounter: createLocalCallCounter(),
    dueTimes: createLocalDueTimes()
  })
}

function createEventLog ({ maxEvents, ttlMs }: EventLogLimits): EventLog {
  const streams = new Map<string, LoggedEvent[]>()
  const expiries = new Map<string, number>()
  return {
    async append (stream, event) {
      streams.set(stream, [...streams.get(stream) ?? [], event].slice(-maxEvents))
      expiries.set(stream, Date.now() + ttlMs)
    },
    async read (stream, after) {
      if (Date.now() >= (expiries.get(stream) ?? 0)) return undefined
      return streams.get(stream)?.filter(({ position }) => position > after)
    },
    async close () { streams.clear() }
  }
}
