// Opens the catalog: its folder, its settings, and the checks of its dependencies.

import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../base/time.ts'
import type { LoadGuard } from '../catalog/compiled/load-guard.ts'
import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import { openCatalogFolder } from '../catalog/folder/catalog-folder.ts'
import { createSettingReader, type Variables } from '../catalog/folder/environment-settings.ts'
import { openLiveCatalog, type LiveCatalog } from '../catalog/folder/live/live-catalog.ts'
import { CheckedPart } from '../http/readiness.ts'
import type { ServiceConfig } from '../ops/config/config.ts'
import type { Broadcast } from '../store/changes/broadcast.ts'

interface CatalogDependencies {
  readonly environment: Variables
  readonly broadcast: Broadcast
  readonly log: FastifyBaseLogger
  readonly guard: LoadGuard
  readonly clock: Clock
  /** Ends the load when it aborts. */
  readonly signal: AbortSignal
}

/** Rejects with a CatalogError if the catalog does not load. */
export async function openServedCatalog (
  { catalog, maxResourceBytes, watch, pageSize }: ServiceConfig,
  { environment, broadcast, log, guard, clock, signal }: CatalogDependencies
): Promise<LiveCatalog> {
  // Imported here and not at the top, because index.ts imports app.ts.
  const trivet = await import('../index.ts')
  const source = openCatalogFolder(catalog, { maxResourceBytes, watchMode: watch, trivet })
  const options = {
    ...clock,
    pageSize,
    readSetting: createSettingReader(environment),
    loadComparison: async () => (await import('../catalog/contracts/changes.ts')).createComparison,
    signal
  }
  return await openLiveCatalog(source, broadcast, log, options, guard)
}

/** Returns the dependencies of the snapshot that have a check. */
export function toCheckedParts ({ dependencies }: Snapshot): CheckedPart[] {
  return (dependencies?.all ?? []).filter(({ isChecked }) => isChecked).map((dependency) => {
    return new CheckedPart(`dependency ${dependency.compiled.name}`, async () => await dependency.check())
  })
}
