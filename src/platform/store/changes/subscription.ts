// One open stream of changes: its filter, and its pending notifications.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions

import type { ScopeGroup } from '../../access/principal.ts'
import type { RequestId } from '../../protocol/json-rpc.ts'
import { askedLists, type ListName, type SubscriptionFilter } from '../../protocol/notifications.ts'
import { Announcement, withoutSlash } from './announcement.ts'
import type { ChangeEvent } from './change-event.ts'
import type { MessageSink } from './message-sink.ts'

/**
 * With this many pending resources, a further change below a subscribed directory is reported as a change of
 * the directory.
 */
const MAX_PENDING_RESOURCES = 1000

/** Writes the messages of a stream, as JSON. */
export interface StreamMessages {
  /** Identifies the stream in the log. */
  readonly id: RequestId
  listChanged (list: ListName): string
  resourceUpdated (uri: string): string
  /** The first and the last message of the stream, if it has any. */
  opening? (): string
  closing? (): string
}

/** The listener: the owner of the stream, and the group that the owner belongs to. */
export interface Listener { readonly owner: string, readonly scopeGroup: ScopeGroup }

export class Subscription {
  readonly sink: MessageSink
  readonly messages: StreamMessages
  readonly #listener: Listener
  /** The number of consecutive keep-alive rounds in which the stream was blocked. */
  blockedRounds = 0
  // Pending notifications are in sets. While the client does not read, they grow to the size of its filter,
  // and by a limited number of resources below its directories.
  readonly #lists = new Set<ListName>()
  readonly #uris = new Set<string>()
  #askedLists: readonly ListName[] = []
  #askedUris: readonly string[] = []
  // Without trailing slashes.
  #followed: ReadonlySet<string> = NOTHING

  constructor (
    listener: Listener, filter: SubscriptionFilter, messages: StreamMessages, sink: MessageSink
  ) {
    this.#listener = listener
    this.messages = messages
    this.sink = sink
    this.follow(filter)
  }

  /** Whether there is a notification to send. */
  get isPending (): boolean { return this.#lists.size + this.#uris.size > 0 }

  /** Replaces the filter. */
  follow (filter: SubscriptionFilter): void {
    this.#askedLists = askedLists(filter)
    this.#askedUris = filter.resourceSubscriptions ?? []
    this.#followed = this.#askedUris.length === 0 ? NOTHING : new Set(this.#askedUris.map(withoutSlash))
  }

  /**
   * Notes the event if the filter includes it and the listener may hear of it. Returns whether it was noted.
   * @param announcement of the event: many streams note one event, and share what is found out about it.
   */
  note (event: ChangeEvent, announcement = new Announcement(event)): boolean {
    switch (event.type) {
      case 'tools-changed': return this.#noteList('tools', announcement)
      case 'prompts-changed': return this.#noteList('prompts', announcement)
      case 'resources-changed': return this.#noteList('resources', announcement)
      case 'resource-updated': return (event.owner === undefined || event.owner === this.#listener.owner) &&
        this.#noteUri(event.uri, announcement)
      case 'resources-outdated':
      case 'task-changed': return false
      case 'events-missed': return this.#noteAll(announcement)
    }
  }

  /** Sends the pending notifications. Does nothing while the client does not read. */
  flush (): void {
    if (this.sink.isBlocked) return
    for (const list of this.#lists) this.sink.send(this.messages.listChanged(list))
    for (const uri of this.#uris) this.sink.send(this.messages.resourceUpdated(uri))
    this.#lists.clear()
    this.#uris.clear()
  }

  #noteList (list: ListName, announcement: Announcement): boolean {
    const isHeard = this.#askedLists.includes(list) && announcement.isFor(this.#listener.scopeGroup)
    if (isHeard) this.#lists.add(list)
    return isHeard
  }

  /** An unneeded notification costs the client one request. A lost one leaves the client with old data. */
  #noteAll (announcement: Announcement): boolean {
    for (const list of this.#askedLists) this.#noteList(list, announcement)
    for (const uri of this.#askedUris) this.#uris.add(uri)
    return this.isPending
  }

  #noteUri (uri: string, announcement: Announcement): boolean {
    if (this.#followed.size === 0) return false
    const nearest = announcement.places.find((place) => this.#followed.has(place))
    if (nearest === undefined || !announcement.isFor(this.#listener.scopeGroup)) return false
    const isExact = this.#uris.size < MAX_PENDING_RESOURCES || nearest === withoutSlash(uri)
    this.#uris.add(isExact ? uri : nearest)
    return true
  }
}

const NOTHING: ReadonlySet<string> = new Set()
