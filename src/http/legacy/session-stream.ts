// The stream on which a session is told of changes: one for each session, wherever it was opened last.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server

import { randomBytes } from 'node:crypto'
import { Subscription, type StreamMessages } from '../../events/subscription.ts'
import type { Subscriptions } from '../../events/subscriptions.ts'
import type { RecentChanges } from '../../legacy/recent-changes.ts'
import type { SessionRelay, SessionSettingsRecord, StreamOpened } from '../../legacy/session-relay.ts'
import type { SessionSettings } from '../../legacy/session-settings.ts'
import type { Session } from '../../legacy/session.ts'
import { toNotification } from '../../protocol/json-rpc.ts'
import type { ListName, SubscriptionFilter } from '../../protocol/notifications.ts'
import { hasStreamPolling } from '../../protocol/revision-features.ts'
import { EventStream } from '../event-stream.ts'

export interface SessionStreamsDependencies {
  readonly relay: SessionRelay
  readonly settings: SessionSettings
  readonly subscriptions: Subscriptions
  readonly changes: RecentChanges
  /** Whether the catalog can change while the service runs. */
  readonly isWatching: boolean
}

export interface SessionStreams {
  /**
   * @param lastEventId of the stream that this one goes on with, if it is one. Rejects where the session's
   * settings cannot be read.
   */
  open (session: Session, lastEventId: string | undefined): Promise<EventStream>
  /** Whether the session has one here, whose place another would take. */
  has (session: Session): boolean
  close (): void
}

/** The time up to which a client has heard everything is in the id of each event. */
const EVENT_ID = /^s\.([0-9a-z]{1,10})\.[\w-]{8}\.\d{1,15}$/
/** How often the settings of a session that listens are asked for, so that they do not expire. */
const TOUCH_MS = 300_000

/** Its events have ids, by which a client that was cut off says what it has heard. */
class SessionEventStream extends EventStream {
  // No other stream of the session has events of the same ids.
  readonly #name = randomBytes(6).toString('base64url')
  #events = 0

  override send (json: string): void {
    super.send(json, `s.${Date.now().toString(36)}.${this.#name}.${++this.#events}`)
  }
}

interface Open {
  readonly openedAt: number
  readonly session: Session
  readonly stream: EventStream
  readonly subscription: Subscription
}

export function createSessionStreams (
  { relay, settings, subscriptions, changes, isWatching }: SessionStreamsDependencies
): SessionStreams {
  const bySession = new Map<string, Open>()

  const stopListening = relay.listen((message) => {
    switch (message.type) {
      case 'session-changed': return bySession.get(message.session)?.subscription.follow(
        toFilter(message.settings)
      )
      case 'session-ended': return endStream(message.session)
      case 'stream-opened': return yieldTo(message)
    }
  }, () => { for (const { session, subscription } of bySession.values()) refresh(session, subscription) })
  const timer = setInterval(
    () => { for (const { session, subscription } of bySession.values()) refresh(session, subscription) },
    TOUCH_MS
  ).unref()

  function announce ({ session, openedAt }: Open): void {
    relay.send({ type: 'stream-opened', session: session.id, openedAt }).catch(() => {})
  }

  /**
   * Ends an older one. The other replica does the same, though it may have heard of a newer one before it had
   * its own: so it is told again.
   */
  function yieldTo ({ session, openedAt }: StreamOpened): void {
    const open = bySession.get(session)
    if (open === undefined || open.openedAt === openedAt) return
    if (open.openedAt < openedAt) endStream(session)
    else announce(open)
  }

  function toFilter ({ uris }: SessionSettingsRecord): SubscriptionFilter {
    const lists = isWatching
      ? { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
      : {}
    return { ...lists, resourceSubscriptions: [...uris] }
  }

  function refresh (session: Session, subscription: Subscription): void {
    settings.read(session).then((read) => subscription.follow(toFilter(read)), () => {})
  }

  function endStream (session: string): void {
    bySession.get(session)?.stream.end()
    bySession.delete(session)
  }

  return {
    async open (session, lastEventId) {
      const stream = new SessionEventStream()
      const followed = await settings.read(session)
      const subscription = new Subscription(session.owner, toFilter(followed), toWords(session), stream)
      // Of two that were opened in the same millisecond, the lot decides which stays.
      const entry = { openedAt: Date.now() + Math.random(), session, stream, subscription }
      endStream(session.id)
      bySession.set(session.id, entry)
      stream.once('close', () => { if (bySession.get(session.id) === entry) bySession.delete(session.id) })
      // The headers go out with the first bytes: nothing else may come for long.
      if (hasStreamPolling(session.revision)) stream.send('')
      else stream.keepAlive()
      subscriptions.open(subscription)
      // Of what changed while it was being opened, too.
      refresh(session, subscription)
      announce(entry)
      const [, time] = EVENT_ID.exec(lastEventId ?? '') ?? []
      if (time !== undefined) {
        for (const event of changes.since(Number.parseInt(time, 36))) subscription.note(event)
      } else if (!hasStreamPolling(session.revision)) {
        // Before it has had an event, an older client cannot say that it comes back.
        for (const uri of followed.uris) subscription.note({ type: 'resource-updated', uri })
      }
      subscription.flush()
      return stream
    },
    has: ({ id }) => bySession.has(id),
    close () {
      stopListening()
      clearInterval(timer)
    }
  }
}

function toWords ({ id }: Session): StreamMessages {
  return { id, listChanged, resourceUpdated }
}

const listChanged = (list: ListName) => toNotification(`notifications/${list}/list_changed`)
const resourceUpdated = (uri: string) => toNotification('notifications/resources/updated', { uri })
