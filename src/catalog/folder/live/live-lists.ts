// Makes the lists of resource templates again while the service runs: when a handler says that they changed,
// and when they are older than their templates allow.

import { createPaced } from '../../../base/paced.ts'
import { clock } from '../../../base/time.ts'
import type { Broadcast } from '../../../store/changes/broadcast.ts'
import type { ChangeEvent } from '../../../store/changes/change-event.ts'
import type { Catalog, CatalogChange } from '../../compiled/catalog.ts'
import type { Listing, ListingOptions } from '../../compiled/lists/listings.ts'
import { relist } from '../../compiled/lists/relist.ts'
import type { Problem } from '../../compiled/problem.ts'

export interface LiveLists {
  /** Called for each request of the list. Has the lists made again whose time is over, in the background. */
  noteUse (): void
  /** Has all lists made again, on every replica. */
  outdate (): void
  /** Makes now the lists that wait for it. Resolves when no list is being made. */
  settle (): Promise<void>
}

interface OpenLists extends LiveLists {
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
  readonly catalog: Catalog
  readonly broadcast: Broadcast
  /** Must not reject. */
  publish (event: ChangeEvent): Promise<void>
  onChange (change: CatalogChange, version: string): Promise<void>
  onProblems (problems: readonly Problem[]): void
}

const INTERVAL_MS = 1000

const keyOf = ({ compiled }: Listing) => compiled.key

export function createLiveLists (
  { catalog, broadcast, publish, onChange, onProblems }: LiveListsDependencies,
  { now = clock.now, listIntervalMs = INTERVAL_MS, ...options }: LiveListsOptions
): OpenLists {
  const announcing = createPaced(listIntervalMs, async () => await publish({ type: 'resources-outdated' }))
  const running = createPaced(listIntervalMs, run)
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
    const keys = templates && new Set(templates)
    for (const listing of catalog.current.listings) {
      const key = keyOf(listing)
      if (keys === undefined || keys.has(key)) waiting.add(key)
    }
    if (waiting.size > 0) running.request()
  }

  async function run (): Promise<void> {
    const [keys, before, begunAt] = [waiting, catalog.current, now()]
    waiting = new Set()
    const { snapshot, problems } = await relist(before, (listing) => keys.has(keyOf(listing)), options)
    if (isClosed) return
    // A reload wins. Its modules make these lists once more, because it may have made them earlier.
    if (catalog.current !== before) return want([...keys])
    for (const key of keys) madeAt.set(key, begunAt)
    dueAt = findDueAt()
    if (problems.length > 0) onProblems(problems)
    if (snapshot !== before) await onChange(catalog.replace(snapshot), snapshot.version)
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
      const templates = catalog.current.listings.filter((one) => dueTimeOf(one) <= time).map(keyOf)
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
