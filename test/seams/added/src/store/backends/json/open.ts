import { createLocalCallCounter } from '../../../limits/local-call-counter.ts'
import {
  EVENT_LOG_LIMITS, type EventLog, type EventLogLimits, type LoggedEvent
} from '../../changes/event-log.ts'
import { createLocalBroadcast } from '../../changes/local-broadcast.ts'
import { createLocalDueTimes } from '../../records/local-due-times.ts'
import { toOpenedBackend, type OpenBackend } from '../backend.ts'
import { openJsonStateStore } from './state-store.ts'

export const openJsonBackend: OpenBackend = async (url, { eventLogLimits = EVENT_LOG_LIMITS }) => {
  return toOpenedBackend({
    store: openJsonStateStore(url.slice('json:'.length)),
    broadcast: createLocalBroadcast(),
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
