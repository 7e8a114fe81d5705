// Reloads the catalog after each change of its source. A catalog with problems is logged and not used.

import { createCatalog, type Catalog, type CatalogChange } from '../catalog/catalog.ts'
import { createCatalogCompiler, type CatalogCompilerOptions } from '../catalog/compile-catalog.ts'
import { createLoadGuard } from '../catalog/load-guard.ts'
import { CatalogError } from '../catalog/problem.ts'
import type { Snapshot } from '../catalog/snapshot.ts'
import type { ChangeEvent } from '../events/change-event.ts'
import type { EventBus } from '../events/event-bus.ts'
import { yieldToRequests } from '../modules/yield-to-requests.ts'
import type { CatalogSource } from './catalog-source.ts'

interface CatalogLog {
  info (fields: object, message: string): void
  warn (fields: object, message: string): void
  error (fields: object, message: string): void
}

interface LiveCatalog {
  readonly catalog: Catalog
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
  if (dirty) startReloading()
  logScopedPrimitives(catalog.current)

  async function load (): Promise<Snapshot> {
    const snapshot = await guard.run(source.name, async () => await compiler.compile(await source.load()))
    source.accepted?.()
    return snapshot
  }

  function startReloading (): void {
    loading ??= reloadWhileDirty().finally(() => { loading = undefined })
  }

  async function reloadWhileDirty (): Promise<void> {
    dirty = false
    await reload()
    if (dirty && !closed) await reloadWhileDirty()
  }

  async function reload (): Promise<void> {
    const started = performance.now()
    try {
      const next = await load()
      if (closed) return
      const change = catalog.replace(next)
      const { lists, updatedUris } = change
      log.info(
        {
          catalog: source.name,
          lists,
          updated: updatedUris.length,
          durationMs: Math.round(performance.now() - started)
        },
        'catalog reloaded'
      )
      announcing = announce(change)
      await announcing
    } catch (error) {
      if (closed) return
      const problems = error instanceof CatalogError ? error.problems : undefined
      log.error(
        { catalog: source.name, problems, err: error },
        'catalog not reloaded: the one from before keeps serving'
      )
    }
  }

  async function announce ({ lists, updatedUris }: CatalogChange): Promise<void> {
    for (const list of lists) await publish({ type: `${list}-changed` })
    for (const uri of updatedUris) {
      await publish({ type: 'resource-updated', uri })
      await yieldToRequests()
    }
  }

  async function publish (event: ChangeEvent): Promise<void> {
    await bus.publish(event).catch(
      (error: unknown) => log.error({ err: error, event }, 'change not announced')
    )
  }

  /** Without authentication no caller has a scope, so these primitives would be hidden from all callers. */
  function logScopedPrimitives ({ primitives: { tools, prompts, resources, templates } }: Snapshot): void {
    const scoped = [tools, prompts, resources, templates].flat().filter(({ scopes }) => scopes.length > 0)
    if (scoped.length > 0) {
      log.info(
        { names: scoped.map(({ key }) => key) }, 'offered only to callers with the scopes that they need'
      )
    }
  }

  return {
    catalog,
    async close () {
      closed = true
      await stopWatching()
      await announcing
    }
  }
}
