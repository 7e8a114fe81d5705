// Makes the lists of resource templates again while the service runs: when a handler says that they changed,
// and when they are older than their templates allow.

import { createThrottle } from './throttle.ts'
import { clock } from '../../../base/time.ts'
import type { Broadcast } from '../../../platform/store/changes/broadcast.ts'
import { findCatalogChange } from './catalog-change.ts'
import type { Catalog } from '../../compiled/catalog.ts'
import type { Listing, ListingOptions } from '../../compiled/lists/listings.ts'
import { relist } from './relist.ts'
import type { Announcer } from './announcer.ts'
import { namesOfLists, type CatalogLog } from './catalog-log.ts'

export interface LiveLists {
  /** Called for each request of the list. Has the lists made again whose time is over, in the background. */
  noteUse (): void
  /** Has all lists made again, on every replica. */
  outdate (): void
  /** Makes now the lists that wait for it. Resolves when no list is being made. */
  settle (): Promise<void>
  /** Called when a load of the catalog begins. Call what it returns when the load's snapshot is served. */
  beginLoad (): () => void
  close (): void
}

export interface LiveListsOptions extends ListingOptions {
  readonly now?: () => number
  /** The least time between two runs, and between two events to the other replicas, in milliseconds. */
  readonly listIntervalMs?: number
}

interface LiveListsDependencies {
  /** The name of the catalog in the log. */
  readonly name: string
  readonly catalog: Catalog
  readonly broadcast: Broadcast
  readonly announcer: Announcer
  readonly log: CatalogLog
}

const INTERVAL_MS = 1000

const keyOf = ({ compiled }: Listing) => compiled.key

export function createLiveLists (
  { name, catalog, broadcast, announcer: { announce, publish }, log }: LiveListsDependencies,
  { now = clock.now, listIntervalMs = INTERVAL_MS, ...options }: LiveListsOptions
): LiveLists {
  const announcing = createThrottle(listIntervalMs, async () => await publish({ type: 'resources-outdated' }))
  const running = createThrottle(listIntervalMs, run)
  /** The templates whose lists are made in the next run. */
  let waiting = new Set<string>()
  /** How often `want` was called: a load may have called `list` before the change that was told. */
  let wants = 0
  let isClosed = false
  let loadedAt = now()
  /** The time at which the list of a template was made, if that was after the load. */
  const madeAt = new Map<string, number>()
  let dueAt = findDueAt()

  const unsubscribe = broadcast.subscribe((event) => {
    if (event.type === 'resources-outdated') want(event.templates)
    // The lost event may have been of this kind.
    else if (event.type === 'events-missed') want()
  })

  /** @param templates all by default. */
  function want (templates?: readonly string[]): void {
    wants++
    for (const key of catalog.current.listings.map(keyOf)) {
      if (templates?.includes(key) !== false) waiting.add(key)
    }
    if (waiting.size > 0) running.request()
  }

  async function run (): Promise<void> {
    const [keys, before, begunAt] = [waiting, catalog.current, now()]
    waiting = new Set()
    const { snapshot, problems } = await relist(before, (listing) => keys.has(keyOf(listing)), options)
    const change = await findCatalogChange(before, snapshot, options.yieldToRequests)
    if (isClosed) return
    // A reload wins. Its modules make these lists once more, because it may have made them earlier.
    if (!catalog.replace(before, snapshot)) return want([...keys])
    for (const key of keys) madeAt.set(key, begunAt)
    dueAt = findDueAt()
    if (problems.length > 0) {
      log.error({ catalog: name, problems }, 'resources not listed again: the lists from before are served')
    }
    if (snapshot === before) return
    const fields = { catalog: name, version: snapshot.version, lists: namesOfLists(change) }
    log.info(fields, 'resources listed again')
    await announce(change)
  }

  function dueTimeOf (listing: Listing): number {
    const { listTtlMs = Infinity } = listing.located.definition
    return (madeAt.get(keyOf(listing)) ?? loadedAt) + listTtlMs
  }

  function findDueAt (): number {
    return Math.min(...catalog.current.listings.map(dueTimeOf))
  }

  return {
    noteUse () {
      const time = now()
      if (time < dueAt) return
      const templates = catalog.current.listings.filter((listing) => dueTimeOf(listing) <= time).map(keyOf)
      // Until the lists are made.
      dueAt = Infinity
      // All replicas, so that their lists do not differ for long.
      publish({ type: 'resources-outdated', templates })
    },
    outdate: announcing.request,
    async settle () {
      await announcing.flush()
      await running.flush()
    },
    beginLoad () {
      const [begunAt, before] = [now(), wants]
      return () => {
        loadedAt = begunAt
        madeAt.clear()
        dueAt = findDueAt()
        if (wants !== before) want()
      }
    },
    close () {
      isClosed = true
      unsubscribe()
      announcing.close()
      running.close()
    }
  }
}
