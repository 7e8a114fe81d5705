// Decides which streams hear of a change, once for all streams of callers with the same granted scopes.

import type { ScopeGroup } from '../../access/principal.ts'
import type { ChangeEvent } from './change-event.ts'

function mayHear (group: ScopeGroup, event: ChangeEvent): boolean {
  switch (event.type) {
    case 'tools-changed':
    case 'prompts-changed':
    case 'resources-changed':
      return isSeenBy(group, event.seenBy)
    case 'resource-updated': return isSeenBy(group, event.seenBy) && group.mayHearOf(event.uri)
    case 'resources-outdated': return false
    // Streams of tasks have listeners of their own.
    case 'task-changed': return false
    // Tells every stream all that it follows, so that nobody learns anything of it.
    case 'events-missed': return true
  }
}

function isSeenBy (group: ScopeGroup, seenBy: ReadonlyArray<readonly string[]> | undefined): boolean {
  return seenBy === undefined || seenBy.some((scopes) => group.holds(scopes))
}

/** A change event on its way to many streams. */
export class Announcement {
  readonly event: ChangeEvent
  readonly #heard = new Map<ScopeGroup, boolean>()
  #places: readonly string[] | undefined

  constructor (event: ChangeEvent) {
    this.event = event
  }

  isFor (group: ScopeGroup): boolean {
    let hears = this.#heard.get(group)
    if (hears === undefined) {
      hears = mayHear(group, this.event)
      this.#heard.set(group, hears)
    }
    return hears
  }

  /**
   * The URI of an updated resource, and the directories above it, without trailing slashes: a subscription to
   * a directory includes the resources in it.
   */
  get places (): readonly string[] {
    this.#places ??= this.event.type === 'resource-updated' ? placesOf(this.event.uri) : []
    return this.#places
  }
}

function placesOf (uri: string): readonly string[] {
  const places = [withoutSlash(uri)]
  for (let end = uri.lastIndexOf('/'); end > 0; end = uri.lastIndexOf('/', end - 1)) {
    places.push(uri.slice(0, end))
  }
  return places
}

export function withoutSlash (uri: string): string {
  return uri.endsWith('/') ? uri.slice(0, -1) : uri
}
