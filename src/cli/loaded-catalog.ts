// Loads a catalog once, as the service would, and serves nothing.

import type { LoadedCatalog } from '../catalog/compiled/catalog.ts'
import { createCatalogCompiler } from '../catalog/compiled/compile-catalog.ts'
import { openCatalogFolder } from '../catalog/folder/catalog-folder.ts'
import { createSettingReader } from '../catalog/folder/environment-settings.ts'
import { readConfig } from '../ops/config/config.ts'
import { CONSTANTS } from '../ops/config/constants.ts'
import type { Surroundings } from './command.ts'

/**
 * Opens no dependencies. Rejects with a CatalogError that has every problem; a required setting without a
 * value is none.
 * @param folder that of TRIVET_CATALOG by default
 */
export async function loadCatalog (
  folder: string | undefined, { environment, guard }: Surroundings
): Promise<LoadedCatalog> {
  const { catalog, maxResourceBytes } = readConfig({
    TRIVET_CATALOG: folder ?? environment.TRIVET_CATALOG,
    TRIVET_MAX_RESOURCE_BYTES: environment.TRIVET_MAX_RESOURCE_BYTES
  })
  const trivet = await import('../index.ts')
  const source = openCatalogFolder(catalog, { maxResourceBytes, watchMode: 'off', trivet })
  return await guard.run(source.name, async () => {
    const contents = await source.load()
    const readSetting = createSettingReader(environment)
    const compiler = createCatalogCompiler({ pageSize: CONSTANTS.pageSize, readSetting })
    return { contents, snapshot: await compiler.compile(contents) }
  })
}
