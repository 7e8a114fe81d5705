// The stream of a session's change notifications. A session has one stream in all replicas: opening a stream
// ends the older one.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
// ("Listening for Messages from the Server")

import type { Principal } from '../../access/principal.ts'
import type { ScopeGroup } from '../../access/scope-group.ts'
import { random, timers } from '../../base/time.ts'
import { EventStream } from '../../http/event-stream.ts'
import type { Sender } from '../../limits/network.ts'
import type { OpenStreams } from '../../limits/open-streams.ts'
import { toNotification } from '../../protocol/json-rpc.ts'
import { toListFilter, type ListName, type SubscriptionFilter } from '../../protocol/notifications.ts'
import { hasStreamPolling } from '../../protocol/revision-features.ts'
import { endAtExpiry } from '../../store/changes/message-sink.ts'
import { Subscription, type StreamMessages } from '../../store/changes/subscription.ts'
import type { Subscriptions } from '../../store/changes/subscriptions.ts'
import type { EndedSessions } from '../sessions/ended-sessions.ts'
import type { RecentChanges } from '../sessions/recent-changes.ts'
import type { SessionMessages, SessionSettingsRecord, StreamOpened } from '../sessions/session-messages.ts'
import type { SessionSettings } from '../sessions/session-settings.ts'
import type { Session } from '../sessions/session.ts'
import type { SharedClock } from '../sessions/shared-clock.ts'

interface SessionStreamsDependencies {
  readonly messages: SessionMessages
  readonly clock: Pick<SharedClock, 'now' | 'read'>
  readonly ended: Pick<EndedSessions, 'onEnd'>
  readonly settings: SessionSettings
  /** How long the settings of a session are kept after they were last read, in milliseconds. */
  readonly settingsIdleMs: number
  readonly subscriptions: Subscriptions
  readonly openStreams: OpenStreams
  /** What the callers with the scopes of a principal may hear of. */
  readonly scopeGroups: { of (principal: Principal): ScopeGroup }
  readonly changes: RecentChanges
  /** The lists that can change while the service runs. */
  readonly changingLists: ReadonlySet<ListName>
}

export interface SessionStreams {
  /**
   * Rejects if the session's settings cannot be read, or if too many streams are open.
   * @param lastEventId the id of the last event that the client received on an earlier stream.
   */
  open (session: Session, sender: Sender, lastEventId: string | undefined): Promise<EventStream>
  close (): void
}

/** The id of an event contains the time up to which the client has received all changes. */
const SESSION_EVENT_ID = /^s\.([0-9a-z]{1,10})\.[\w-]{8}\.\d{1,15}$/
/** How often the settings of a session with a stream are read, so that they do not expire: at least this. */
const MAX_REFRESH_MS = 300_000

/** Gives each event an id. */
class SessionEventStream extends EventStream {
  // Random, so that the ids of two streams of a session are never the same.
  readonly #name = random.name(6)
  readonly #now: () => number
  #events = 0

  constructor (now: () => number) {
    super()
    this.#now = now
  }

  override send (json: string): void {
    super.send(json, `s.${Math.floor(this.#now()).toString(36)}.${this.#name}.${++this.#events}`)
  }
}

interface OpenSessionStream {
  readonly openedAt: number
  readonly session: Session
  readonly stream: EventStream
  readonly subscription: Subscription
}

export function createSessionStreams (
  dependencies: SessionStreamsDependencies
): SessionStreams {
  const {
    messages, clock, ended, settings, settingsIdleMs, subscriptions, openStreams, scopeGroups, changes,
    changingLists
  } = dependencies
  const bySession = new Map<string, OpenSessionStream>()

  const stopListening = messages.listen((message) => {
    switch (message.type) {
      case 'session-changed': return applySettings(message.session, message.settings)
      case 'stream-opened': return endOlder(message)
    }
  }, () => {
    refreshAll()
    // A lost message may have announced a newer stream, or one of these to the replica of an older stream.
    for (const open of bySession.values()) announce(open)
  })
  ended.onEnd(endStream)
  // Three times within the lifetime, so that one failed read does no harm.
  const timer = timers.setInterval(refreshAll, Math.min(MAX_REFRESH_MS, settingsIdleMs / 3)).unref()

  function applySettings (session: string, settings: SessionSettingsRecord): void {
    bySession.get(session)?.subscription.follow(toFilter(settings))
  }

  function announce ({ session, openedAt }: OpenSessionStream): void {
    messages.send({ type: 'stream-opened', session: session.id, openedAt }).catch(() => {})
  }

  /**
   * Ends this replica's stream if it is older than the announced one. If it is newer, announces it again: the
   * other replica may have received the first announcement before it opened its older stream.
   */
  function endOlder ({ session, openedAt }: StreamOpened): void {
    const open = bySession.get(session)
    if (open === undefined || open.openedAt === openedAt) return
    if (open.openedAt < openedAt) endStream(session)
    else announce(open)
  }

  function toFilter ({ uris }: SessionSettingsRecord): SubscriptionFilter {
    return { ...toListFilter(changingLists), resourceSubscriptions: [...uris] }
  }

  function refresh (session: Session, subscription: Subscription): void {
    settings.read(session).then((read) => subscription.follow(toFilter(read)), () => {})
  }

  function refreshAll (): void {
    for (const { session, subscription } of bySession.values()) refresh(session, subscription)
  }

  function endStream (session: string): void {
    bySession.get(session)?.stream.end()
    bySession.delete(session)
  }

  return {
    async open (session, sender, lastEventId) {
      // A stream that replaces an older one is not refused.
      if (!bySession.has(session.id)) openStreams.checkRoom(sender)
      const stream = new SessionEventStream(clock.now)
      // Counted before the settings are read: many streams may be opened at once.
      openStreams.add(stream, sender)
      const reading = Promise.all([settings.read(session), clock.read()])
      const [followed, openedAt] = await reading.catch((error: unknown) => {
        stream.cut()
        throw error
      })
      const listener = { owner: session.owner, scopeGroup: scopeGroups.of(sender.principal) }
      const subscription = new Subscription(listener, toFilter(followed), toWords(session), stream)
      // The random part decides between two streams that were opened at the same time.
      const entry = { openedAt: openedAt + random.number() / 1000, session, stream, subscription }
      endStream(session.id)
      bySession.set(session.id, entry)
      stream.once('close', () => { if (bySession.get(session.id) === entry) bySession.delete(session.id) })
      // The response headers are sent with the first bytes, and the first event may come much later.
      if (hasStreamPolling(session.revision)) stream.send('')
      else stream.keepAlive()
      subscriptions.open(subscription)
      endAtExpiry(sender.principal, stream, () => stream.end())
      // The settings may have changed since they were read above.
      refresh(session, subscription)
      announce(entry)
      const [, time] = SESSION_EVENT_ID.exec(lastEventId ?? '') ?? []
      if (time !== undefined) {
        for (const event of changes.since(Number.parseInt(time, 36))) subscription.note(event)
      } else if (!hasStreamPolling(session.revision)) {
        // In these revisions a client that has received no event has no id to send when it reconnects. It may
        // have missed an update of any resource.
        for (const uri of followed.uris) subscription.note({ type: 'resource-updated', uri })
      }
      subscription.flush()
      return stream
    },
    close () {
      stopListening()
      timers.clear(timer)
    }
  }
}

function toWords ({ id }: Session): StreamMessages {
  return { id, listChanged, resourceUpdated }
}

const listChanged = (list: ListName) => toNotification(`notifications/${list}/list_changed`)
const resourceUpdated = (uri: string) => toNotification('notifications/resources/updated', { uri })
