// The composition of the earlier revisions. To remove them, delete legacy/ and the two lines of app.ts that
// name this file.

import type { FastifyBaseLogger } from 'fastify'
import { Lifecycle } from '../../base/lifecycle.ts'
import type { Catalog } from '../../catalog/compiled/catalog.ts'
import type { ScopeGroups } from '../../request/pipeline/scope-groups.ts'
import type { AnswerDependencies, Era } from '../http/era.ts'
import type { Replies } from '../http/replies.ts'
import type { ServiceConfig } from '../../ops/config/config.ts'
import type { ListName } from '../../platform/protocol/notifications.ts'
import type { Method } from '../../request/pipeline/method.ts'
import { Pipeline, type PipelineDependencies } from '../../request/pipeline/pipeline.ts'
import type { EraSupport } from '../../request/pipeline/request-context.ts'
import type { Broadcast } from '../../platform/store/changes/broadcast.ts'
import type { EventLog } from '../../platform/store/changes/event-log.ts'
import type { Subscriptions } from '../../platform/store/changes/subscriptions.ts'
import { untilAvailable } from '../../platform/store/records/start-wait.ts'
import { StoreUnavailable, type StateStore } from '../../platform/store/records/state-store.ts'
import type { Sealer } from '../../platform/store/sealing/sealer.ts'
import { createLegacyEra } from './http/era.ts'
import { SessionCalls } from './http/outlet.ts'
import { createResumedStreams } from './http/resumed-streams.ts'
import { SessionStreams, type SessionStreamsDependencies } from './http/session-streams.ts'
import { createLegacyMethods } from './methods/session-methods.ts'
import { createCallStreams } from './sessions/call-streams.ts'
import { ClientAnswers } from './sessions/client-answers.ts'
import { openEndedSessions } from './sessions/ended-sessions.ts'
import { describeMissing, LiveInputRound, InputUnavailable } from './sessions/live-input-round.ts'
import { RecentChanges } from './sessions/recent-changes.ts'
import { createReplicaWatches } from './sessions/replica-watches.ts'
import { SessionMessages } from './sessions/session-messages.ts'
import { createSessionSettings } from './sessions/session-settings.ts'
import { Sessions } from './sessions/sessions.ts'
import { openSharedClock } from './sessions/shared-clock.ts'
import { createLegacySnapshots } from './sessions/snapshots.ts'

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
  readonly tokenWatch: SessionStreamsDependencies['tokenWatch']
  readonly sealer: Sealer
  /** Opens the round of a call that may be kept: its questions are asked by the requests that wait for it. */
  readonly openKeptRound: EraSupport['openRound']
  /** Ends the opening, which waits for a store that is away, when it aborts. */
  readonly signal: AbortSignal
}

export async function openLegacyEra (dependencies: LegacyDependencies): Promise<Era> {
  const {
    config, changingLists, log, catalog, methods, pipelineDependencies, answerDependencies, replies, store,
    broadcast, eventLog, subscriptions, scopeGroups, tokenWatch, sealer, openKeptRound, signal
  } = dependencies
  const { openStreams, keepAlive } = answerDependencies
  const onError = (err: unknown) => log.warn({ err }, 'sessions cannot reach the other replicas')
  const lifecycle = new Lifecycle(signal)
  const messages = lifecycle.add(new SessionMessages(broadcast, onError))
  const { clock, endedSessions } = await lifecycle.start(async () => ({
    clock: await lifecycle.open(untilAvailable(async () => (
      await openSharedClock(broadcast).catch((error: unknown) => { throw new StoreUnavailable(error) })
    ), signal)),
    endedSessions: await lifecycle.open(openEndedSessions(store, messages, {
      onError, maxPerOwner: config.maxSessionsPerCaller, signal
    }))
  }))
  const sessions = new Sessions({ sealer, ended: endedSessions, ttlMs: config.sessionTtlMs })
  const settings = createSessionSettings(store, messages, {
    idleMs: config.sessionIdleMs, maxPerOwner: config.maxSessionsPerCaller, onError
  })
  const answers = new ClientAnswers(messages, config.workerCount)
  const calls = new SessionCalls(messages, endedSessions)
  const changes = new RecentChanges(broadcast, clock)
  const callStreams = createCallStreams(eventLog, messages, onError)
  const sessionStreams = new SessionStreams({
    messages,
    clock,
    endedSessions,
    settings,
    subscriptions,
    openStreams,
    scopeGroups,
    tokenWatch,
    changes,
    changingLists,
    settingsIdleMs: config.sessionIdleMs
  })
  const watches = createReplicaWatches({ eventLog, messages, onError })
  const resumedStreams = createResumedStreams({
    eventLog, messages, watches, openStreams, tokenWatch, keepAlive, onError
  })
  const closables = [
    calls, resumedStreams, watches, sessionStreams, callStreams, changes, answers, settings, lifecycle
  ]
  const snapshots = createLegacySnapshots()
  const pipeline = new Pipeline({
    ...pipelineDependencies,
    support: {
      era: 'legacy',
      snapshotFor: (revision) => snapshots.in(catalog.current, revision),
      openRound: (round, request) => round.journal === undefined
        ? new LiveInputRound(request, round.relay)
        : openKeptRound(round, request),
      toMissingCapability: (missing, caller) => new InputUnavailable(describeMissing(missing, caller))
    },
    methods: [...methods, ...createLegacyMethods({ settings, changingLists })]
  })
  return createLegacyEra({
    ...answerDependencies,
    pipeline,
    prepare: (revision) => snapshots.prepare(catalog.current, revision),
    replies,
    messages,
    sessions,
    endedSessions,
    settings,
    answers,
    calls,
    callStreams,
    sessionStreams,
    resumedStreams,
    answerTtlMs: config.requestStateTtlMs,
    async close () {
      for (const closable of closables) await closable.close()
    }
  })
}
