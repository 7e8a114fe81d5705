// The stream of a session's change notifications. A session has one stream in all replicas: opening a stream
// ends the older one.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports
// ("Listening for Messages from the Server")

import type { Principal, ScopeGroup } from '../../../platform/access/principal.ts'
import { hasExpired, type TokenWatch } from '../../../platform/access/token-watch.ts'
import { random, type Timer, timers } from '../../../base/time.ts'
import { EventStream } from '../../http/event-stream.ts'
import type { Sender } from '../../../platform/limits/holder.ts'
import type { OpenStreams } from '../../../platform/limits/open-streams.ts'
import { tokenExpired } from '../../../platform/protocol/errors.ts'
import { toNotification } from '../../../platform/protocol/json-rpc.ts'
import {
  toListFilter, type ListName, type SubscriptionFilter
} from '../../../platform/protocol/notifications.ts'
import { hasStreamPolling } from '../../../platform/protocol/revisions.ts'
import { Subscription } from '../../../platform/store/changes/subscription.ts'
import type { Subscriptions } from '../../../platform/store/changes/subscriptions.ts'
import type { EndedSessions } from '../sessions/ended-sessions.ts'
import type { RecentChanges } from '../sessions/recent-changes.ts'
import type { SessionMessages, SessionSettingsRecord } from '../sessions/session-messages.ts'
import type { SessionSettings } from '../sessions/session-settings.ts'
import type { Session } from '../sessions/session.ts'
import type { SharedClock } from '../sessions/shared-clock.ts'

export interface SessionStreamsDependencies {
  readonly messages: SessionMessages
  readonly clock: Pick<SharedClock, 'now' | 'read'>
  readonly endedSessions: Pick<EndedSessions, 'onEnd'>
  readonly settings: SessionSettings
  /** How long the settings of a session are kept after they were last read, in milliseconds. */
  readonly settingsIdleMs: number
  readonly subscriptions: Subscriptions
  readonly openStreams: OpenStreams
  /** What the callers with the scopes of a principal may hear of. */
  readonly scopeGroups: { of (principal: Principal): ScopeGroup }
  readonly tokenWatch: TokenWatch
  readonly changes: RecentChanges
  /** The lists that can change while the service runs. */
  readonly changingLists: ReadonlySet<ListName>
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

export class SessionStreams {
  readonly #dependencies: SessionStreamsDependencies
  readonly #bySession = new Map<string, OpenSessionStream>()
  readonly #stopListening: () => void
  readonly #timer: Timer

  constructor (dependencies: SessionStreamsDependencies) {
    this.#dependencies = dependencies
    const { messages, endedSessions, settingsIdleMs } = dependencies
    this.#stopListening = messages.listen((message) => {
      switch (message.type) {
        case 'session-changed':
          return this.#bySession.get(message.session)?.subscription.follow(this.#toFilter(message.settings))
        case 'stream-opened': return this.#endOlder(message.session, message.openedAt)
      }
    }, () => {
      this.#refreshAll()
      // A lost message may have announced a newer stream, or one of these to the replica of an older stream.
      for (const open of this.#bySession.values()) this.#announce(open)
    })
    endedSessions.onEnd((session) => this.#end(session))
    // Three times within the lifetime, so that one failed read does no harm.
    const refreshEveryMs = Math.min(MAX_REFRESH_MS, settingsIdleMs / 3)
    this.#timer = timers.setInterval(() => this.#refreshAll(), refreshEveryMs).unref()
  }

  /**
   * Rejects if the session's settings cannot be read, or if too many streams are open.
   * @param lastEventId the id of the last event that the client received on an earlier stream.
   */
  async open (session: Session, sender: Sender, lastEventId: string | undefined): Promise<EventStream> {
    const { clock, settings, subscriptions, openStreams, scopeGroups, tokenWatch } = this.#dependencies
    // A client whose stream ends at once would open it again at once.
    if (hasExpired(sender.principal)) throw tokenExpired()
    // A stream that replaces an older one is not refused.
    if (!this.#bySession.has(session.id)) openStreams.checkRoom(sender)
    const stream = new SessionEventStream(clock.now)
    // Counted before the settings are read: many streams may be opened at once.
    openStreams.add(stream, sender)
    const reading = Promise.all([settings.read(session), clock.read()])
    const [current, openedAt] = await reading.catch((error: unknown) => {
      stream.cut()
      throw error
    })
    const listener = { owner: session.owner, scopeGroup: scopeGroups.of(sender.principal) }
    const messages = { id: session.id, listChanged, resourceUpdated }
    const subscription = new Subscription(listener, this.#toFilter(current), messages, stream)
    // The random part decides between two streams that were opened at the same time.
    const open = { openedAt: openedAt + random.number() / 1000, session, stream, subscription }
    this.#add(open)
    // The response headers are sent with the first bytes, and the first event may come much later.
    if (hasStreamPolling(session.revision)) stream.send('')
    else stream.keepAlive()
    subscriptions.open(subscription)
    tokenWatch.add(sender.principal, stream, () => stream.end())
    // The settings may have changed since they were read above.
    this.#refresh(session, subscription)
    this.#announce(open)
    this.#noteMissed(subscription, session, current, lastEventId)
    subscription.flush()
    return stream
  }

  close (): void {
    this.#stopListening()
    timers.clear(this.#timer)
  }

  /** Ends the older stream of the session, if any. */
  #add (open: OpenSessionStream): void {
    const { session: { id }, stream } = open
    this.#end(id)
    this.#bySession.set(id, open)
    stream.once('close', () => { if (this.#bySession.get(id) === open) this.#bySession.delete(id) })
  }

  /** Tells the client the changes since its last event. */
  #noteMissed (
    subscription: Subscription, { revision }: Session, { uris }: SessionSettingsRecord,
    lastEventId: string | undefined
  ): void {
    const [, time] = SESSION_EVENT_ID.exec(lastEventId ?? '') ?? []
    if (time !== undefined) {
      const events = this.#dependencies.changes.since(Number.parseInt(time, 36))
      for (const event of events) subscription.note(event)
    } else if (!hasStreamPolling(revision)) {
      // In these revisions a client that has received no event has no id to send when it reconnects. It may
      // have missed an update of any resource.
      for (const uri of uris) subscription.note({ type: 'resource-updated', uri })
    }
  }

  #announce ({ session, openedAt }: OpenSessionStream): void {
    const { messages } = this.#dependencies
    messages.send({ type: 'stream-opened', session: session.id, openedAt }).catch(() => {})
  }

  /**
   * Ends this replica's stream if it is older than the announced one. If it is newer, announces it again: the
   * other replica may have received the first announcement before it opened its older stream.
   */
  #endOlder (session: string, openedAt: number): void {
    const open = this.#bySession.get(session)
    if (open === undefined || open.openedAt === openedAt) return
    if (open.openedAt < openedAt) this.#end(session)
    else this.#announce(open)
  }

  #toFilter ({ uris }: SessionSettingsRecord): SubscriptionFilter {
    return { ...toListFilter(this.#dependencies.changingLists), resourceSubscriptions: [...uris] }
  }

  #refresh (session: Session, subscription: Subscription): void {
    this.#dependencies.settings.read(session).then(
      (settings) => subscription.follow(this.#toFilter(settings)), () => {}
    )
  }

  #refreshAll (): void {
    for (const { session, subscription } of this.#bySession.values()) this.#refresh(session, subscription)
  }

  #end (session: string): void {
    this.#bySession.get(session)?.stream.end()
    this.#bySession.delete(session)
  }
}

const listChanged = (list: ListName) => toNotification(`notifications/${list}/list_changed`)
const resourceUpdated = (uri: string) => toNotification('notifications/resources/updated', { uri })
