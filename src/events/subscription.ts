// One open `subscriptions/listen` stream: what it asked for, and what it has not been told yet.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions

import type { RequestId } from '../protocol/json-rpc.ts'
import { listChangedNotification, resourceUpdatedNotification, type ListName, type SubscriptionFilter } from '../protocol/notifications.ts'
import type { ChangeEvent } from './change-event.ts'
import type { MessageSink } from './message-sink.ts'

export class Subscription {
  readonly id: RequestId
  readonly filter: SubscriptionFilter
  readonly sink: MessageSink
  /** How many keep-alive rounds it has been blocked. */
  blockedRounds = 0
  // What is pending is a set, so that however much happens while the client does not read, no more than its own
  // filter is ever held.
  readonly #lists = new Set<ListName>()
  readonly #uris = new Set<string>()

  constructor (id: RequestId, filter: SubscriptionFilter, sink: MessageSink) {
    this.id = id
    this.filter = filter
    this.sink = sink
  }

  /** Notes the event, if it was asked for. `true` where there is now something to flush. */
  note (event: ChangeEvent): boolean {
    switch (event.type) {
      case 'tools-changed': return this.#noteList('tools', this.filter.toolsListChanged)
      case 'prompts-changed': return this.#noteList('prompts', this.filter.promptsListChanged)
      case 'resources-changed': return this.#noteList('resources', this.filter.resourcesListChanged)
      case 'resource-updated': return this.#noteUri(event.uri)
    }
  }

  /** Sends what is pending, unless the client is not reading: then it waits, and merges with what comes. */
  flush (): void {
    if (this.sink.isBlocked) return
    for (const list of this.#lists) this.sink.send(listChangedNotification(this.id, list))
    for (const uri of this.#uris) this.sink.send(resourceUpdatedNotification(this.id, uri))
    this.#lists.clear()
    this.#uris.clear()
  }

  #noteList (list: ListName, asked: boolean | undefined): boolean {
    if (asked === true) this.#lists.add(list)
    return asked === true
  }

  #noteUri (uri: string): boolean {
    const asked = this.filter.resourceSubscriptions?.some((subscribed) => isAtOrBelow(uri, subscribed)) === true
    if (asked) this.#uris.add(uri)
    return asked
  }
}

function isAtOrBelow (uri: string, subscribed: string): boolean {
  return uri === subscribed || uri.startsWith(subscribed.endsWith('/') ? subscribed : `${subscribed}/`)
}
