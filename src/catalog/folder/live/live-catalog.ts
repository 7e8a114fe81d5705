// Reloads the catalog after each change of its folder. A catalog with problems is logged and not used.

import { unlessAborted } from '../../../base/deadline.ts'
import { singleFlight } from '../../../base/single-flight.ts'
import { clock, type Timer, timers } from '../../../base/time.ts'
import { messageOf } from '../../../base/words.ts'
import { LIST_NAMES, type ListName } from '../../../platform/protocol/notifications.ts'
import type { Broadcast } from '../../../platform/store/changes/broadcast.ts'
import { findCatalogChange, type CatalogChange } from './catalog-change.ts'
import { createCatalog, type Catalog, type LoadedCatalog } from '../../compiled/catalog.ts'
import type { CatalogContents } from '../../compiled/contents.ts'
import { createLoadGuard } from '../../compiled/load-guard.ts'
import { CatalogError, type Problem } from '../../compiled/problem.ts'
import { scopesToSee } from '../../compiled/scopes/access-rule.ts'
import type { Snapshot } from '../../compiled/snapshot.ts'
import { yieldToRequests } from '../../../base/turns.ts'
import type { CatalogFolder } from '../catalog-folder.ts'
import { createAnnouncer } from './announcer.ts'
import { createCatalogLoader, type CatalogLoaderOptions } from './catalog-loader.ts'
import { logScopedPrimitives, namesOfLists, type CatalogLog } from './catalog-log.ts'
import { createLiveLists, type LiveLists, type LiveListsOptions } from './live-lists.ts'

/** A reload that the system has failed is tried again after this time, in milliseconds. */
const RETRY_MS = 5000
/** How rules of problems begin that pass without a change of any file. */
const PASSING = /\b(?:EMFILE|ENFILE|ENOMEM|EAGAIN|EIO|ESTALE|ETIMEDOUT): /

interface LiveCatalogOptions extends LiveListsOptions, CatalogLoaderOptions {
  /** Ends the first load when it aborts. */
  readonly signal?: AbortSignal
  readonly observer?: LoadObserver | undefined
  /** Reads what is served until the first load succeeds. Absent: `openLiveCatalog` rejects then. */
  readonly readSubstitute?: (() => Promise<CatalogContents>) | undefined
}

/** Is told of each load that ends. */
export interface LoadObserver {
  served (loaded: LoadedCatalog): void
  /** Called when the catalog before, or what takes its place, keeps serving. */
  failed (problems: readonly Problem[]): void
}

interface ReloadFailure {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The first of the problems. `undefined` if the catalog could not be read at all. */
  readonly problem: Problem | undefined
}

/** How the reloads went. A first load counts if it fails and something else is served in its place. */
export interface Reloads {
  readonly succeeded: number
  readonly failed: number
  /** When the catalog that is served was loaded, in milliseconds since the epoch. */
  readonly lastSuccessAt: number
  /** Present if the last reload failed. */
  readonly failure?: ReloadFailure
}

export interface LiveCatalog {
  readonly catalog: Catalog
  /** Replaced and never changed, so that a reader has facts of one moment. */
  readonly reloads: Reloads
  readonly lists: LiveLists
  /**
   * The lists that can change while the service runs.
   * @param canReload whether the catalog is loaded again. Otherwise only what templates list changes.
   */
  findChangingLists (canReload: boolean): ReadonlySet<ListName>
  /**
   * Begins a load of the whole catalog, which evaluates every module. While a load is in progress, one more
   * follows it, however often this is called.
   */
  reload (): void
  /**
   * Stops watching, and closes the dependencies. Does not wait for a load in progress, which may take until a
   * deadline: its result is dropped.
   */
  close (): Promise<void>
}

/** Rejects with a CatalogError if the first load fails and nothing takes its place. */
export async function openLiveCatalog (
  folder: CatalogFolder, broadcast: Broadcast, log: CatalogLog,
  { signal, observer, readSubstitute, ...options }: LiveCatalogOptions,
  guard = createLoadGuard()
): Promise<LiveCatalog> {
  const loader = createCatalogLoader(folder, log, guard, options)
  const announcer = createAnnouncer(broadcast, log)
  let isDirty = false
  let mustForget = false
  let isClosed = false
  let retryTimer: Timer | undefined
  let startReloading: () => unknown = () => {}
  // Watching starts first, so that a change during the first load is not missed.
  const stopWatching = await folder.watch(noteChange, (err) => {
    log.warn({ catalog: folder.name, err }, 'some changes of the catalog may go unnoticed')
  })
  let firstError: unknown
  let isSubstituted = false
  const catalog = await unlessAborted(loadFirst(), signal).then((first) => {
    loader.noteServed(first)
    observer?.served(first)
    return createCatalog(first.snapshot)
  }).catch(async (error: unknown) => {
    await stopWatching()
    await loader.close()
    throw error
  })
  const lists = createLiveLists({
    name: folder.name, catalog, broadcast, announcer, log
  }, { ...options, yieldToRequests })
  let reloads: Reloads = { succeeded: 0, failed: 0, lastSuccessAt: clock.now() }
  if (isSubstituted) logNotLoaded(firstError)
  startReloading = singleFlight(reloadWhileDirty)
  startReloading()
  logScopedPrimitives(catalog.current, log)

  function noteChange (): void {
    isDirty = true
    startReloading()
  }

  async function loadFirst (): Promise<LoadedCatalog> {
    try {
      return await loader.load()
    } catch (error) {
      if (readSubstitute === undefined) throw error
      firstError = error
      isSubstituted = true
      return await loader.compile(await readSubstitute())
    }
  }

  async function reloadWhileDirty (): Promise<void> {
    if (!isDirty || isClosed) return
    isDirty = false
    timers.clear(retryTimer)
    if (mustForget) folder.forget()
    mustForget = false
    await reloadOnce()
    await reloadWhileDirty()
  }

  async function reloadOnce (): Promise<void> {
    const started = clock.monotonic()
    const acceptLists = lists.beginLoad()
    try {
      const next = await loader.load()
      const changes = await loader.nameChanges(next)
      const change = await replaceBy(next.snapshot)
      if (change === undefined) return next.snapshot.dependencies?.retire()
      loader.noteServed(next)
      observer?.served(next)
      isSubstituted = false
      acceptLists()
      const { succeeded, failed, failure } = reloads
      reloads = { succeeded: succeeded + 1, failed, lastSuccessAt: clock.now() }
      log.info(
        {
          catalog: folder.name,
          version: next.snapshot.version,
          lists: namesOfLists(change),
          updated: change.updated.length,
          changes,
          ...(failure !== undefined && { isFixed: true }),
          durationMs: Math.round(clock.monotonic() - started)
        },
        'catalog reloaded'
      )
      await announcer.announce(change)
    } catch (error) {
      if (isClosed) return
      if (isSubstituted) logNotLoaded(error)
      else log.error(noteFailure(error), 'catalog not reloaded: the one from before keeps serving')
    }
  }

  function logNotLoaded (error: unknown): void {
    log.error(noteFailure(error), 'catalog not loaded: nothing is served until its problems are fixed')
  }

  /** Returns what the log says of the failure. */
  function noteFailure (error: unknown): object {
    const problems = error instanceof CatalogError ? error.problems : undefined
    const failure = { at: clock.now(), problem: problems?.[0] }
    reloads = { ...reloads, failed: reloads.failed + 1, failure }
    const report = problems ?? [{ file: '', place: '', rule: messageOf(error) }]
    observer?.failed(report)
    if (report.some(({ rule }) => PASSING.test(rule))) {
      retryTimer = timers.setTimeout(noteChange, RETRY_MS).unref()
    }
    // The message of a CatalogError has the problems too, and its stack has its message.
    return { catalog: folder.name, ...problems === undefined ? { err: error } : { problems } }
  }

  /** Returns `undefined` if the service closes: the catalog then stays as it is. */
  async function replaceBy (snapshot: Snapshot): Promise<CatalogChange | undefined> {
    const before = catalog.current
    const change = await findCatalogChange(before, snapshot, yieldToRequests)
    if (isClosed) return undefined
    // Resources may have been listed again in the meantime: the change is then another one.
    return catalog.replace(before, snapshot) ? change : await replaceBy(snapshot)
  }

  return {
    catalog,
    lists,
    findChangingLists: (canReload) => canReload ? new Set(LIST_NAMES) : findRelistedLists(catalog),
    get reloads () { return reloads },
    reload () {
      mustForget = true
      noteChange()
    },
    async close () {
      isClosed = true
      timers.clear(retryTimer)
      lists.close()
      await stopWatching()
      await announcer.settle()
      await loader.close()
    }
  }
}

/** All callers get the same answer: a template that is hidden from some must not change it. */
function findRelistedLists ({ current }: Catalog): ReadonlySet<ListName> {
  const canChange = current.listings.some(({ compiled }) => scopesToSee(compiled).length === 0)
  return new Set(canChange ? ['resources'] : [])
}
