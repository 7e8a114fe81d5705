// One open stream of changes: its filter, and its pending notifications.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions

import type { RequestId } from '../protocol/json-rpc.ts'
import type { ListName, SubscriptionFilter } from '../protocol/notifications.ts'
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

export class Subscription {
  readonly sink: MessageSink
  readonly messages: StreamMessages
  readonly owner: string
  /** The number of consecutive keep-alive rounds in which the stream was blocked. */
  blockedRounds = 0
  // Pending notifications are in sets. While the client does not read, they grow to the size of its filter,
  // and by a limited number of resources below its directories.
  readonly #lists = new Set<ListName>()
  readonly #uris = new Set<string>()
  #filter: SubscriptionFilter = {}
  // Without trailing slashes.
  #followed: ReadonlySet<string> = NOTHING

  constructor (owner: string, filter: SubscriptionFilter, messages: StreamMessages, sink: MessageSink) {
    this.owner = owner
    this.messages = messages
    this.sink = sink
    this.follow(filter)
  }

  /** Replaces the filter. */
  follow (filter: SubscriptionFilter): void {
    this.#filter = filter
    this.#followed = filter.resourceSubscriptions === undefined
      ? NOTHING
      : new Set(filter.resourceSubscriptions.map(withoutSlash))
  }

  /**
   * Notes the event if the filter includes it, and returns whether it does.
   * @param places those of the event. Many streams note one event, so the caller may find them once for all.
   */
  note (event: ChangeEvent, places = placesOf(event)): boolean {
    switch (event.type) {
      case 'tools-changed': return this.#noteList('tools', this.#filter.toolsListChanged)
      case 'prompts-changed': return this.#noteList('prompts', this.#filter.promptsListChanged)
      case 'resources-changed': return this.#noteList('resources', this.#filter.resourcesListChanged)
      case 'resource-updated': return (event.owner === undefined || event.owner === this.owner) &&
        this.#noteUri(event.uri, places)
      case 'events-missed': return this.#noteAll()
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

  #noteList (list: ListName, asked: boolean | undefined): boolean {
    if (asked === true) this.#lists.add(list)
    return asked === true
  }

  /** An unneeded notification costs the client one request. A lost one leaves the client with old data. */
  #noteAll (): boolean {
    this.#noteList('tools', this.#filter.toolsListChanged)
    this.#noteList('prompts', this.#filter.promptsListChanged)
    this.#noteList('resources', this.#filter.resourcesListChanged)
    for (const uri of this.#filter.resourceSubscriptions ?? []) this.#uris.add(uri)
    return this.#lists.size + this.#uris.size > 0
  }

  #noteUri (uri: string, places: readonly string[]): boolean {
    if (this.#followed.size === 0) return false
    const nearest = places.find((place) => this.#followed.has(place))
    if (nearest === undefined) return false
    const isExact = this.#uris.size < MAX_PENDING_RESOURCES || nearest === withoutSlash(uri)
    this.#uris.add(isExact ? uri : nearest)
    return true
  }
}

const NOTHING: ReadonlySet<string> = new Set()

function withoutSlash (uri: string): string {
  return uri.endsWith('/') ? uri.slice(0, -1) : uri
}

const NOWHERE: readonly string[] = []

/**
 * The URI of an updated resource, and the directories above it: a subscription to a directory includes the
 * resources in it.
 */
export function placesOf (event: ChangeEvent): readonly string[] {
  if (event.type !== 'resource-updated') return NOWHERE
  const { uri } = event
  const found = [withoutSlash(uri)]
  for (let end = uri.lastIndexOf('/'); end > 0; end = uri.lastIndexOf('/', end - 1)) {
    found.push(uri.slice(0, end))
  }
  return found
}
