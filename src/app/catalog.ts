// The composition root of the catalog: its folder, its settings, and the checks of its dependencies.

import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../base/time.ts'
import type { LoadGuard } from '../catalog/compiled/load-guard.ts'
import type { Snapshot } from '../catalog/compiled/snapshot.ts'
import { openCatalogFolder } from '../catalog/folder/catalog-folder.ts'
import { createSettingReader, type Environment } from '../catalog/folder/environment-settings.ts'
import { openLiveCatalog, type LiveCatalog } from '../catalog/folder/live/live-catalog.ts'
import { createCheckedPart, type CheckedPart } from '../http/readiness.ts'
import type { AppConfig } from '../ops/config/config.ts'
import type { OpenedBackend } from '../store/backends/backend.ts'

interface CatalogDependencies {
  readonly environment: Environment
  readonly backend: OpenedBackend
  readonly log: FastifyBaseLogger
  readonly guard: LoadGuard
  readonly clock: Clock
}

/** Rejects with a CatalogError, and closes the backend, if the catalog does not load. */
export async function openConfiguredCatalog (
  { catalog, maxResourceBytes, watch, pageSize }: AppConfig,
  { environment, backend, log, guard, clock }: CatalogDependencies
): Promise<LiveCatalog> {
  // Imported here and not at the top, because index.ts imports app.ts.
  const trivet = await import('../index.ts')
  const source = openCatalogFolder(catalog, { maxResourceBytes, watchMode: watch, trivet })
  const options = {
    ...clock,
    pageSize,
    readSetting: createSettingReader(environment),
    loadComparison: async () => (await import('../catalog/contracts/breaking-problems.ts')).createComparison
  }
  return await openLiveCatalog(source, backend.bus, log, options, guard).catch(async (error: unknown) => {
    await backend.close()
    throw error
  })
}

/** Those of the snapshot that have a check. */
export function toCheckedParts ({ dependencies }: Snapshot): CheckedPart[] {
  return (dependencies?.all ?? []).filter(({ isChecked }) => isChecked).map((dependency) => {
    return createCheckedPart(`dependency ${dependency.compiled.name}`, async () => await dependency.check())
  })
}
