// The earlier revisions, put together: with this file go legacy/, methods/legacy/ and http/legacy/, and its line in app.ts.

import type { FastifyBaseLogger } from 'fastify'
import type { Catalog } from './catalog/catalog.ts'
import type { Config } from './config.ts'
import { createDispatcher } from './dispatch/dispatcher.ts'
import type { Method } from './dispatch/method.ts'
import type { EventBus } from './events/event-bus.ts'
import type { EventLog } from './events/event-log.ts'
import type { Relay } from './events/relay.ts'
import type { Subscriptions } from './events/subscriptions.ts'
import type { InFlight } from './http/in-flight.ts'
import { createHandshake } from './http/legacy/handshake.ts'
import { createKeepAlive } from './http/legacy/keep-alive.ts'
import { createLegacyEra } from './http/legacy/legacy-era.ts'
import { createSessionCalls } from './http/legacy/session-call.ts'
import { createSessionListen } from './http/legacy/session-listen.ts'
import { createSessionPost } from './http/legacy/session-post.ts'
import { createSessionStreams } from './http/legacy/session-stream.ts'
import type { OtherEra } from './http/other-era.ts'
import { createQuestions } from './input/questions.ts'
import { createCallStreams } from './legacy/call-streams.ts'
import { createClientAnswers } from './legacy/client-answers.ts'
import { openEndedSessions } from './legacy/ended-sessions.ts'
import { createLegacySnapshots } from './legacy/legacy-snapshots.ts'
import { createRecentChanges } from './legacy/recent-changes.ts'
import { createSessionRelay } from './legacy/session-relay.ts'
import { createSessionSettings } from './legacy/session-settings.ts'
import { createSessions } from './legacy/sessions.ts'
import { initialize } from './methods/legacy/initialize.ts'
import { createLegacyMethods } from './methods/legacy/legacy-method-list.ts'
import type { Sealer } from './sealing/sealer.ts'
import type { StateStore } from './state/state-store.ts'

export interface LegacyParts {
  readonly config: Config
  readonly log: FastifyBaseLogger
  readonly catalog: Catalog
  readonly methods: readonly Method[]
  readonly store: StateStore
  readonly bus: EventBus
  readonly relay: Relay
  readonly eventLog: EventLog
  readonly subscriptions: Subscriptions
  readonly sealer: Sealer
  readonly inFlight: InFlight
}

export async function openLegacyEra (parts: LegacyParts): Promise<OtherEra> {
  const { config, log, catalog, methods, store, bus, eventLog, subscriptions, sealer, inFlight } = parts
  const onError = (err: unknown) => log.warn({ err }, 'sessions are not in touch with the other replicas')
  const isWatching = config.watch !== 'off'
  const relay = createSessionRelay(parts.relay, onError)
  const ended = await openEndedSessions(store, relay, { onError })
  const sessions = createSessions({ sealer, ended, ttlMs: config.sessionTtlMs })
  const settings = createSessionSettings(store, relay, { idleMs: config.sessionIdleMs, onError })
  const answers = createClientAnswers(relay)
  const changes = createRecentChanges(bus)
  const callStreams = createCallStreams(eventLog, relay, onError)
  const sessionStreams = createSessionStreams({ relay, settings, subscriptions, changes, isWatching })
  const keepAlive = createKeepAlive(config.keepAliveMs)
  const calls = createSessionCalls({
    catalog,
    snapshotIn: createLegacySnapshots(),
    dispatcher: createDispatcher(createLegacyMethods(methods, settings)),
    questions: createQuestions(),
    inFlight,
    relay,
    settings,
    answers,
    answerTtlMs: config.requestStateTtlMs
  })
  return createLegacyEra({
    sessions,
    ended,
    settings,
    handshake: createHandshake({ catalog, sessions, initialize: (params, snapshot) => initialize(params, snapshot, isWatching) }),
    post: createSessionPost({ relay, answers, callStreams, keepAlive, call: calls.call }),
    listen: createSessionListen({ eventLog, relay, sessionStreams, subscriptions, keepAlive, onError }),
    // Those on which sessions hear of changes are ended with all the others of their kind.
    endStreams: () => keepAlive.endFollowers(),
    async close () {
      // What a client has left is finished all the same: it may come back for it on another replica.
      await calls.settled(config.shutdownTimeoutMs)
      for (const part of [calls, keepAlive, sessionStreams, callStreams, changes, answers, settings, sessions, ended, relay]) part.close()
    }
  })
}
