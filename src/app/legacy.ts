// The composition root of the legacy era. To remove the era, delete this file, legacy/, methods/legacy/ and
// http/legacy/, and the lines of app.ts that use this file.

import type { FastifyBaseLogger } from 'fastify'
import type { ScopeGroups } from '../catalog/scope-groups.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { AppConfig } from '../config.ts'
import type { Method } from '../dispatch/method.ts'
import { createPipeline, type PipelineDependencies } from '../dispatch/pipeline.ts'
import type { EraSupport } from '../dispatch/request-context.ts'
import type { EventBus } from '../events/event-bus.ts'
import type { EventLog } from '../events/event-log.ts'
import type { Relay } from '../events/relay.ts'
import type { Subscriptions } from '../events/subscriptions.ts'
import type { AnswerDependencies } from '../http/answer-dependencies.ts'
import type { Era } from '../http/era.ts'
import { createLegacyEra } from '../http/legacy/era.ts'
import { createHandshake } from '../http/legacy/handshake.ts'
import { createListen } from '../http/legacy/listen.ts'
import { createLegacyPost } from '../http/legacy/post.ts'
import { createResumedStreams } from '../http/legacy/resumed-stream.ts'
import { createSessionStreams } from '../http/legacy/session-stream.ts'
import type { Replies } from '../http/replies.ts'
import { createQuestions } from '../input/questions.ts'
import { createCallStreams } from '../legacy/call-streams.ts'
import { createClientAnswers } from '../legacy/client-answers.ts'
import { openEndedSessions } from '../legacy/ended-sessions.ts'
import { createLegacySnapshots } from '../legacy/legacy-snapshots.ts'
import { describeMissing, LiveInputRound, InputUnavailable } from '../legacy/live-input-round.ts'
import { createRecentChanges } from '../legacy/recent-changes.ts'
import { createReplicaWatches } from '../legacy/replica-watches.ts'
import { createSessionCalls } from '../legacy/session-calls.ts'
import { sessionCallerOf } from '../legacy/session-caller.ts'
import { createSessionRelay } from '../legacy/session-relay.ts'
import { createSessionSettings } from '../legacy/session-settings.ts'
import { createSessions } from '../legacy/sessions.ts'
import { openSharedClock } from '../legacy/shared-clock.ts'
import { createLegacyMethods } from '../methods/legacy/legacy-method-list.ts'
import type { ListName } from '../protocol/notifications.ts'
import type { Sealer } from '../sealing/sealer.ts'
import type { StateStore } from '../state/state-store.ts'

interface LegacyDependencies {
  readonly config: AppConfig
  /** The lists that can change while the service runs. */
  readonly changingLists: ReadonlySet<ListName>
  readonly log: FastifyBaseLogger
  readonly catalog: Catalog
  readonly methods: readonly Method[]
  /** What the pipelines of both eras share. */
  readonly pipelineDependencies: Omit<PipelineDependencies, 'support' | 'methods'>
  readonly answerDependencies: AnswerDependencies
  readonly replies: Replies
  readonly store: StateStore
  readonly bus: EventBus
  readonly relay: Relay
  readonly eventLog: EventLog
  readonly subscriptions: Subscriptions
  readonly scopeGroups: ScopeGroups
  readonly sealer: Sealer
}

export async function openLegacyEra (dependencies: LegacyDependencies): Promise<Era> {
  const {
    config, changingLists, log, catalog, methods, pipelineDependencies, answerDependencies, replies, store,
    bus, eventLog, subscriptions, scopeGroups, sealer
  } = dependencies
  const { openStreams, keepAlive } = answerDependencies
  const onError = (err: unknown) => log.warn({ err }, 'sessions cannot reach the other replicas')
  const relay = createSessionRelay(dependencies.relay, onError)
  const clock = await openSharedClock(dependencies.relay)
  const ended = await openEndedSessions(store, relay, { onError, maxPerOwner: config.limitSessions })
  const sessions = createSessions({ sealer, ended, ttlMs: config.sessionTtlMs })
  const settings = createSessionSettings(store, relay, {
    idleMs: config.sessionIdleMs, maxPerOwner: config.limitSessions, onError
  })
  const answers = createClientAnswers(relay)
  const calls = createSessionCalls(relay, ended)
  const changes = createRecentChanges(bus, clock)
  const callStreams = createCallStreams(eventLog, relay, onError)
  const sessionStreams = createSessionStreams({
    relay,
    clock,
    ended,
    settings,
    subscriptions,
    openStreams,
    scopeGroups,
    changes,
    changingLists,
    settingsIdleMs: config.sessionIdleMs
  })
  const watches = createReplicaWatches({ eventLog, relay, onError })
  const resumedStreams = createResumedStreams({
    eventLog, relay, watches, openStreams, keepAlive, onError
  })
  const closables = [
    calls, resumedStreams, watches, sessionStreams, callStreams, changes, answers, settings, sessions, ended,
    clock, relay
  ]
  const pipeline = createPipeline({
    ...pipelineDependencies,
    support: createLegacySupport(catalog),
    methods: [...methods, ...createLegacyMethods({ settings, changingLists })]
  })
  return createLegacyEra({
    sessions,
    ended,
    settings,
    replies,
    handshake: createHandshake({ pipeline, sessions, ...answerDependencies }),
    post: createLegacyPost({
      pipeline,
      replies,
      relay,
      answers,
      calls,
      settings,
      callStreams,
      ...answerDependencies,
      answerTtlMs: config.requestStateTtlMs
    }),
    listen: createListen({ replies, sessionStreams, resumedStreams }),
    // The streams of sessions are subscriptions: app.ts ends all subscriptions together.
    endStreams: () => resumedStreams.end(),
    async close () {
      for (const closable of closables) closable.close()
    }
  })
}

function createLegacySupport (catalog: Catalog): EraSupport {
  const snapshotIn = createLegacySnapshots()
  const questions = createQuestions()
  return {
    era: 'legacy',
    snapshotFor: (revision) => snapshotIn(catalog.current, revision),
    openRound: (_, { caller, lifetime }) => new LiveInputRound(questions, sessionCallerOf(caller), lifetime),
    toMissingCapability: (missing) => new InputUnavailable(describeMissing(missing))
  }
}
