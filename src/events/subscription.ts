// One open stream of changes: what it asked for, and what it has not been told yet.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions

import type { RequestId } from '../protocol/json-rpc.ts'
import type { ListName, SubscriptionFilter } from '../protocol/notifications.ts'
import type { ChangeEvent } from './change-event.ts'
import type { MessageSink } from './message-sink.ts'

/**
 * Past this many resources that are waiting to be told, a change below a subscribed directory is told as one
 * of the directory.
 */
const MAX_PENDING_RESOURCES = 1000

/** How a stream puts what it has to tell, as JSON. */
export interface StreamMessages {
  /** What the log calls the stream. */
  readonly id: RequestId
  listChanged (list: ListName): string
  resourceUpdated (uri: string): string
  /** What it begins with, and what it is ended with, where anything. */
  opening? (): string
  closing? (): string
}

export class Subscription {
  readonly sink: MessageSink
  readonly messages: StreamMessages
  /** Whose stream it is. */
  readonly owner: string
  /** How many keep-alive rounds it has been blocked, without having read anything between them. */
  blockedRounds = 0
  // What is pending is a set, so that however much happens while the client does not read, no more than its
  // own filter is ever held, and of what lies below its directories a limited number.
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

  /** From now on it is told of this, and of nothing else. */
  follow (filter: SubscriptionFilter): void {
    this.#filter = filter
    this.#followed = filter.resourceSubscriptions === undefined
      ? NOTHING
      : new Set(filter.resourceSubscriptions.map(withoutSlash))
  }

  /** Notes the event, if it was asked for. `true` where there is now something to flush. */
  note (event: ChangeEvent): boolean {
    switch (event.type) {
      case 'tools-changed': return this.#noteList('tools', this.#filter.toolsListChanged)
      case 'prompts-changed': return this.#noteList('prompts', this.#filter.promptsListChanged)
      case 'resources-changed': return this.#noteList('resources', this.#filter.resourcesListChanged)
      case 'resource-updated': return (event.owner === undefined || event.owner === this.owner) &&
        this.#noteUri(event.uri)
      case 'events-missed': return this.#noteAll()
    }
  }

  /** Sends what is pending, unless the client is not reading: then it waits, and merges with what comes. */
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

  /**
   * A client that reads again what did not change loses a moment; one that is not told of a change keeps what
   * is wrong.
   */
  #noteAll (): boolean {
    const {
      toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions = []
    } = this.#filter
    this.#noteList('tools', toolsListChanged)
    this.#noteList('prompts', promptsListChanged)
    this.#noteList('resources', resourcesListChanged)
    for (const uri of resourceSubscriptions) this.#uris.add(uri)
    return this.#lists.size + this.#uris.size > 0
  }

  #noteUri (uri: string): boolean {
    const [nearest] = selfAndDirectories(uri).filter((one) => this.#followed.has(one))
    if (nearest === undefined) return false
    // Past the limit the directory stands for all that is in it.
    this.#uris.add(this.#uris.size < MAX_PENDING_RESOURCES || nearest === withoutSlash(uri) ? uri : nearest)
    return true
  }
}

const NOTHING: ReadonlySet<string> = new Set()

function withoutSlash (uri: string): string {
  return uri.endsWith('/') ? uri.slice(0, -1) : uri
}

/** Whoever follows a directory hears of what is in it. */
function selfAndDirectories (uri: string): string[] {
  const found = [withoutSlash(uri)]
  for (let end = uri.lastIndexOf('/'); end > 0; end = uri.lastIndexOf('/', end - 1)) {
    found.push(uri.slice(0, end))
  }
  return found
}
