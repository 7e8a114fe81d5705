// Who hears of a change. Callers with the same granted scopes are one audience, so that the decision is made
// once for all of their streams.

import type { ChangeEvent } from './change-event.ts'

/** The callers with one set of granted scopes. A reload of the catalog may change what they may hear of. */
export interface Audience {
  /** Whether they hold all of these scopes. */
  holds (scopes: readonly string[]): boolean
  /** Whether they may learn that the resource with this URI has changed. */
  mayHearOf (uri: string): boolean
}

function mayHear (audience: Audience, event: ChangeEvent): boolean {
  switch (event.type) {
    case 'tools-changed':
    case 'prompts-changed':
    case 'resources-changed':
      return event.seenBy === undefined || event.seenBy.some((scopes) => audience.holds(scopes))
    case 'resource-updated': return audience.mayHearOf(event.uri)
    // Tells every stream all that it follows, so that nobody learns anything of it.
    case 'events-missed': return true
  }
}

/** A change event on its way to many streams. */
export class Announcement {
  readonly event: ChangeEvent
  readonly #heard = new Map<Audience, boolean>()
  #places: readonly string[] | undefined

  constructor (event: ChangeEvent) {
    this.event = event
  }

  isFor (audience: Audience): boolean {
    let hears = this.#heard.get(audience)
    if (hears === undefined) {
      hears = mayHear(audience, this.event)
      this.#heard.set(audience, hears)
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
  const found = [withoutSlash(uri)]
  for (let end = uri.lastIndexOf('/'); end > 0; end = uri.lastIndexOf('/', end - 1)) {
    found.push(uri.slice(0, end))
  }
  return found
}

export function withoutSlash (uri: string): string {
  return uri.endsWith('/') ? uri.slice(0, -1) : uri
}
