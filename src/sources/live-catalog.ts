// Reloads the catalog after each change of its source. A catalog with problems is logged and not used.

import type { WhenMissing } from '../authoring/definition.ts'
import { createCatalog, type Catalog, type CatalogChange } from '../catalog/catalog.ts'
import { createCatalogCompiler, type CatalogCompilerOptions } from '../catalog/compile-catalog.ts'
import { createLoadGuard } from '../catalog/load-guard.ts'
import { CatalogError } from '../catalog/problem.ts'
import type { ListChange } from '../catalog/list-changes.ts'
import type { Snapshot } from '../catalog/snapshot.ts'
import type { ChangeEvent } from '../events/change-event.ts'
import type { EventBus } from '../events/event-bus.ts'
import { yieldToRequests } from '../modules/yield-to-requests.ts'
import type { CatalogSource } from './catalog-source.ts'
import { afterFailure, afterSuccess, firstLoad, type Reloads } from './reloads.ts'

/** In one event: an event is one message between replicas. */
const MAX_SEEN_BY = 100

interface CatalogLog {
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

export interface LiveCatalog {
  readonly catalog: Catalog
  readonly reloads: Reloads
  /**
   * Begins a load of the whole catalog, which evaluates every module. While a load is in progress, one more
   * follows it, however often this is called.
   */
  reload (): void
  /**
   * Stops watching. Does not wait for a load in progress, which may take until a deadline: its result is
   * dropped.
   */
  close (): Promise<void>
}

/** Rejects with a CatalogError if the first load fails: there is no earlier catalog to serve. */
export async function openLiveCatalog (
  source: CatalogSource, bus: EventBus, log: CatalogLog, options: CatalogCompilerOptions,
  guard = createLoadGuard()
): Promise<LiveCatalog> {
  const compiler = createCatalogCompiler({ ...options, yieldToRequests })
  let dirty = false
  let mustForget = false
  let loading: Promise<void> | undefined
  let announcing: Promise<void> | undefined
  let closed = false
  let isLoaded = false
  // Watching starts first, so that a change during the first load is not missed.
  const stopWatching = await source.watch(() => {
    dirty = true
    if (isLoaded) startReloading()
  }, (err) => {
    log.warn({ catalog: source.name, err }, 'some changes of the catalog may go unnoticed')
  })
  const catalog = await load().then(createCatalog).catch(async (error: unknown) => {
    closed = true
    await stopWatching()
    throw error
  })
  isLoaded = true
  let reloads = firstLoad()
  if (dirty) startReloading()
  logScopedPrimitives(catalog.current)

  async function load (): Promise<Snapshot> {
    const snapshot = await guard.run(source.name, async () => await compiler.compile(await source.load()))
    source.accepted?.()
    return snapshot
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
    const started = performance.now()
    try {
      const next = await load()
      if (closed) return
      const change = catalog.replace(next)
      reloads = afterSuccess(reloads)
      const { lists, updatedUris } = change
      log.info(
        {
          catalog: source.name,
          version: next.version,
          lists: lists.map(({ list }) => list),
          updated: updatedUris.length,
          durationMs: Math.round(performance.now() - started)
        },
        'catalog reloaded'
      )
      announcing = announce(change)
      await announcing
    } catch (error) {
      if (closed) return
      reloads = afterFailure(reloads, error)
      // The message of a CatalogError has the problems too, and its stack has its message.
      const cause = error instanceof CatalogError ? { problems: error.problems } : { err: error }
      log.error({ catalog: source.name, ...cause }, 'catalog not reloaded: the one from before keeps serving')
    }
  }

  async function announce ({ lists, updatedUris }: CatalogChange): Promise<void> {
    for (const change of lists) await announceList(change)
    for (const uri of updatedUris) {
      await publish({ type: 'resource-updated', uri })
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

  async function publish (event: ChangeEvent): Promise<void> {
    await bus.publish(event).catch(
      (error: unknown) => log.error({ err: error, event }, 'change not announced')
    )
  }

  /** Without authentication no caller has a scope, so nobody could use these primitives. */
  function logScopedPrimitives ({ primitives: { tools, prompts, resources, templates } }: Snapshot): void {
    const scoped = [tools, prompts, resources, templates].flat().filter(({ scopes }) => scopes.length > 0)
    const namesOf = (asked: WhenMissing) =>
      scoped.filter(({ whenMissing }) => whenMissing === asked).map(({ key }) => key)
    const [hidden, challenged] = [namesOf('hide'), namesOf('challenge')]
    if (hidden.length > 0) {
      log.info({ names: hidden }, 'offered only to callers with the scopes that they need')
    }
    if (challenged.length > 0) {
      log.info({ names: challenged }, 'offered to all callers, but used only with the scopes that they need')
    }
  }

  return {
    catalog,
    get reloads () { return reloads },
    reload () {
      mustForget = true
      dirty = true
      startReloading()
    },
    async close () {
      closed = true
      await stopWatching()
      await announcing
    }
  }
}
