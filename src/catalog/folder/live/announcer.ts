// Tells the replicas, and through them the clients, what a change of the catalog means.

import type { Broadcast } from '../../../platform/store/changes/broadcast.ts'
import type { ChangeEvent } from '../../../platform/store/changes/change-event.ts'
import type { CatalogChange } from './catalog-change.ts'
import type { ListChange } from './list-changes.ts'
import { yieldToRequests } from '../../../base/turns.ts'

/** In one event: an event is one message between replicas. */
const MAX_SEEN_BY = 100

export interface Announcer {
  announce (change: CatalogChange): Promise<void>
  /** Never rejects: an event that was not published is logged. */
  publish (event: ChangeEvent): Promise<void>
  /** Resolves when the last announcement has been published. */
  settle (): Promise<void>
}

export function createAnnouncer (
  broadcast: Broadcast, log: { error (fields: object, message: string): void }
): Announcer {
  let announcing: Promise<void> | undefined

  async function publish (event: ChangeEvent): Promise<void> {
    await broadcast.publish(event).catch(
      (error: unknown) => log.error({ err: error, event }, 'change not announced')
    )
  }

  async function announceAll ({ lists, updated }: CatalogChange): Promise<void> {
    for (const change of lists) await announceList(change)
    for (const { uri, scopes } of updated) {
      await publish({ type: 'resource-updated', uri, ...(scopes !== undefined && { seenBy: [scopes] }) })
      await yieldToRequests()
    }
  }

  async function announceList ({ list, seenBy }: ListChange): Promise<void> {
    const type = `${list}-changed` as const
    if (seenBy.some((scopes) => scopes.length === 0)) return await publish({ type })
    for (let start = 0; start < seenBy.length; start += MAX_SEEN_BY) {
      await publish({ type, seenBy: seenBy.slice(start, start + MAX_SEEN_BY) })
    }
  }

  return {
    publish,
    async announce (change) {
      announcing = announceAll(change)
      await announcing
    },
    settle: async () => await announcing
  }
}
