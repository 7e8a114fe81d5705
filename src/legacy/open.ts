// The composition of the earlier revisions. To remove them, delete legacy/ and the two lines of app.ts that
// name this file.

import type { FastifyBaseLogger } from 'fastify'
import type { Catalog } from '../catalog/compiled/catalog.ts'
import type { ScopeGroups } from '../catalog/compiled/scopes/scope-groups.ts'
import type { AnswerDependencies } from '../http/answer-dependencies.ts'
import type { Era } from '../http/era.ts'
import type { Replies } from '../http/replies.ts'
import type { ServiceConfig } from '../ops/config/config.ts'
import type { ListName } from '../protocol/notifications.ts'
import type { Method } from '../request/pipeline/method.ts'
import { Pipeline, type PipelineDependencies } from '../request/pipeline/pipeline.ts'
import type { EraSupport } from '../request/pipeline/request-context.ts'
import { createQuestions } from '../request/questions/questions.ts'
import type { Broadcast } from '../store/changes/broadcast.ts'
import type { EventLog } from '../store/changes/event-log.ts'
import type { Subscriptions } from '../store/changes/subscriptions.ts'
import type { StateStore } from '../store/records/state-store.ts'
import type { Sealer } from '../store/sealing/sealer.ts'
import { createLegacyEra } from './http/era.ts'
import { createHandshake } from './http/handshake.ts'
import { createListen } from './http/listen.ts'
import { createLegacyPost } from './http/post.ts'
import { createResumedStreams } from './http/resumed-stream.ts'
import { createSessionStreams } from './http/session-stream.ts'
import { createLegacyMethods } from './methods/legacy-method-list.ts'
import { createCallStreams } from './sessions/call-streams.ts'
import { createClientAnswers } from './sessions/client-answers.ts'
import { openEndedSessions } from './sessions/ended-sessions.ts'
import { createLegacySnapshots } from './sessions/legacy-snapshots.ts'
import { describeMissing, LiveInputRound, InputUnavailable } from './sessions/live-input-round.ts'
import { createRecentChanges } from './sessions/recent-changes.ts'
import { createReplicaWatches } from './sessions/replica-watches.ts'
import { sessionCallerOf } from './sessions/session-caller.ts'
import { createSessionCalls } from './sessions/session-calls.ts'
import { createSessionMessages } from './sessions/session-messages.ts'
import { createSessionSettings } from './sessions/session-settings.ts'
import { createSessions } from './sessions/sessions.ts'
import { openSharedClock } from './sessions/shared-clock.ts'

interface LegacyDependencies {
  readonly config: ServiceConfig
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
  readonly broadcast: Broadcast
  readonly eventLog: EventLog
  readonly subscriptions: Subscriptions
  readonly scopeGroups: ScopeGroups
  readonly sealer: Sealer
}

export async function openLegacyEra (dependencies: LegacyDependencies): Promise<Era> {
  const {
    config, changingLists, log, catalog, methods, pipelineDependencies, answerDependencies, replies, store,
    broadcast, eventLog, subscriptions, scopeGroups, sealer
  } = dependencies
  const { openStreams, keepAlive } = answerDependencies
  const onError = (err: unknown) => log.warn({ err }, 'sessions cannot reach the other replicas')
  const messages = createSessionMessages(broadcast, onError)
  const clock = await openSharedClock(broadcast)
  const ended = await openEndedSessions(store, messages, {
    onError, maxPerOwner: config.maxSessionsPerCaller
  })
  const sessions = createSessions({ sealer, ended, ttlMs: config.sessionTtlMs })
  const settings = createSessionSettings(store, messages, {
    idleMs: config.sessionIdleMs, maxPerOwner: config.maxSessionsPerCaller, onError
  })
  const answers = createClientAnswers(messages)
  const calls = createSessionCalls(messages, ended)
  const changes = createRecentChanges(broadcast, clock)
  const callStreams = createCallStreams(eventLog, messages, onError)
  const sessionStreams = createSessionStreams({
    messages,
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
  const watches = createReplicaWatches({ eventLog, messages, onError })
  const resumedStreams = createResumedStreams({
    eventLog, messages, watches, openStreams, keepAlive, onError
  })
  const closables = [
    calls, resumedStreams, watches, sessionStreams, callStreams, changes, answers, settings, sessions, ended,
    clock, messages
  ]
  const pipeline = new Pipeline({
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
      messages,
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
