// Reloads the catalog after each change of its source. A catalog with problems is logged and not used.

import { unlessAborted } from '../../../base/deadline.ts'
import { clock } from '../../../base/time.ts'
import { LIST_NAMES, type ListName } from '../../../protocol/notifications.ts'
import type { EventBus } from '../../../store/changes/event-bus.ts'
import { createCatalog, type Catalog, type CatalogChange } from '../../compiled/catalog.ts'
import { createCatalogCompiler, type CatalogCompilerOptions } from '../../compiled/compile-catalog.ts'
import { createDependencyOpener } from '../../compiled/dependencies/dependency-opener.ts'
import {
  findNamedChanges, type EarlierCatalog, type LoadedCatalog
} from '../../compiled/lists/named-changes.ts'
import { createLoadGuard } from '../../compiled/load-guard.ts'
import { CatalogError } from '../../compiled/problem.ts'
import { scopesToSee } from '../../compiled/scopes/access-rule.ts'
import type { Snapshot } from '../../compiled/snapshot.ts'
import { yieldToRequests } from '../../modules/yield-to-requests.ts'
import type { CatalogSource } from '../catalog-source.ts'
import { createAnnouncer } from './announcer.ts'
import { createContractGuard, type CreateComparison } from './contract-guard.ts'
import { createLiveLists, type LiveLists, type LiveListsOptions } from './live-lists.ts'
import { createPassedOverLog } from './passed-over-log.ts'
import { afterFailure, afterSuccess, firstLoad, type Reloads } from './reloads.ts'
import { logScopedPrimitives } from './scoped-log.ts'

interface CatalogLog {
  debug (fields: object, message: string): void
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

interface LiveCatalogOptions
  extends LiveListsOptions, Omit<CatalogCompilerOptions, 'openDependencies' | 'yieldToRequests'> {
  /** Called when the catalog has the guard of clients. */
  readonly loadComparison?: () => Promise<CreateComparison>
  /** Ends the first load when it aborts. */
  readonly signal?: AbortSignal
}

export interface LiveCatalog {
  readonly catalog: Catalog
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

/** Rejects with a CatalogError if the first load fails: there is no earlier catalog to serve. */
export async function openLiveCatalog (
  source: CatalogSource, bus: EventBus, log: CatalogLog,
  { loadComparison, signal = new AbortController().signal, ...options }: LiveCatalogOptions,
  guard = createLoadGuard()
): Promise<LiveCatalog> {
  const logPassedOver = createPassedOverLog(source.name, log)
  const dependencies = createDependencyOpener(log)
  const announcer = createAnnouncer(bus, log)
  const compiler = createCatalogCompiler({
    ...options,
    yieldToRequests,
    openDependencies: async (all) => await dependencies.open(
      all, isLoaded ? catalog.current.dependencies : undefined
    )
  })
  const contracts = createContractGuard({
    root: source.name,
    loadComparison,
    onBreaks (problems) {
      log.warn({ catalog: source.name, problems }, 'the catalog breaks clients, and is accepted')
    }
  })
  let earlier: EarlierCatalog | undefined
  let dirty = false
  let mustForget = false
  let loading: Promise<void> | undefined
  let closed = false
  let isLoaded = false
  // Watching starts first, so that a change during the first load is not missed.
  const stopWatching = await source.watch(() => {
    dirty = true
    if (isLoaded) startReloading()
  }, (err) => {
    log.warn({ catalog: source.name, err }, 'some changes of the catalog may go unnoticed')
  })
  const catalog = await unlessAborted(load(), signal).then((loaded) => {
    describe(loaded)
    return createCatalog(loaded.snapshot)
  }).catch(async (error: unknown) => {
    closed = true
    await stopWatching()
    await dependencies.close()
    throw error
  })
  const lists = createLiveLists({
    catalog,
    bus,
    publish: announcer.publish,
    async onChange (change, version) {
      log.info({ catalog: source.name, version, lists: namesOf(change) }, 'resources listed again')
      await announcer.announce(change)
    },
    onProblems: (problems) => log.error(
      { catalog: source.name, problems }, 'resources not listed again: the lists from before are served'
    )
  }, { ...options, yieldToRequests })
  isLoaded = true
  let reloads = firstLoad()
  if (dirty) startReloading()
  logScopedPrimitives(catalog.current, log)

  async function load (): Promise<LoadedCatalog> {
    let compiled: Snapshot | undefined
    try {
      const loaded = await guard.run(source.name, async () => {
        const contents = await source.load()
        logPassedOver(contents.passedOver)
        compiled = await compiler.compile(contents)
        const next = { contents, snapshot: compiled }
        await contracts.check(next)
        return next
      })
      source.accepted?.()
      await contracts.accept(loaded)
      return loaded
    } catch (error) {
      compiled?.dependencies?.retire()
      throw error
    }
  }

  /** What the log says of a reload, by name. */
  function describe (loaded: LoadedCatalog): readonly string[] {
    const { contents: { fileDigests }, snapshot } = loaded
    const changes = earlier === undefined ? [] : findNamedChanges(earlier, loaded)
    earlier = { snapshot, fileDigests }
    return changes
  }

  function startReloading (): void {
    if (closed) return
    loading ??= reloadWhileDirty().finally(() => { loading = undefined })
  }

  async function reloadWhileDirty (): Promise<void> {
    dirty = false
    if (mustForget) source.forget?.()
    mustForget = false
    await loadNext()
    if (dirty && !closed) await reloadWhileDirty()
  }

  async function loadNext (): Promise<void> {
    const started = clock.monotonic()
    const acceptLists = lists.beginLoad()
    try {
      const loaded = await load()
      const { snapshot: next } = loaded
      if (closed) return next.dependencies?.retire()
      const change = catalog.replace(next)
      acceptLists()
      const isFixed = reloads.failure !== undefined
      reloads = afterSuccess(reloads)
      log.info(
        {
          catalog: source.name,
          version: next.version,
          lists: namesOf(change),
          updated: change.updated.length,
          changes: describe(loaded),
          ...(isFixed && { isFixed }),
          durationMs: Math.round(clock.monotonic() - started)
        },
        'catalog reloaded'
      )
      await announcer.announce(change)
    } catch (error) {
      if (closed) return
      reloads = afterFailure(reloads, error)
      // The message of a CatalogError has the problems too, and its stack has its message.
      const cause = error instanceof CatalogError ? { problems: error.problems } : { err: error }
      log.error({ catalog: source.name, ...cause }, 'catalog not reloaded: the one from before keeps serving')
    }
  }

  return {
    catalog,
    lists,
    findChangingLists (canReload) {
      if (canReload) return new Set(LIST_NAMES)
      // All callers get the same answer: a template that is hidden from some must not change it.
      const canChange = catalog.current.listings.some(({ compiled }) => scopesToSee(compiled).length === 0)
      return new Set(canChange ? ['resources'] : [])
    },
    get reloads () { return reloads },
    reload () {
      mustForget = true
      dirty = true
      startReloading()
    },
    async close () {
      closed = true
      lists.close()
      await stopWatching()
      await announcer.settle()
      await dependencies.close()
    }
  }
}

function namesOf ({ lists }: CatalogChange): readonly string[] {
  return lists.map(({ list }) => list)
}
