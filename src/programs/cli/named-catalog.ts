// The catalog that an argument names: a folder, a revision of git, or a service.

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { LoadedCatalog } from '../../catalog/compiled/catalog.ts'
import { CatalogCompiler } from '../../catalog/compiled/compile-catalog.ts'
import { CONTINUE_TOOL } from '../../catalog/compiled/definitions/continue-tool.ts'
import { offeredBy, type Offered, type OfferedPrimitive } from '../../catalog/contracts/offered.ts'
import { openCatalogFolder } from '../../catalog/folder/catalog-folder.ts'
import { assertLayout } from '../../catalog/folder/catalog-layout.ts'
import { createSettingReader } from '../../catalog/folder/environment-settings.ts'
import { withLines } from '../../catalog/folder/line-of-problem.ts'
import { READ_MORE_OPTIONS } from '../../features/remainders/read-more-tool.ts'
import { createUpstreamCompiler } from '../../features/upstreams/definition/upstream-dependency.ts'
import { readConfig } from '../../ops/config/config.ts'
import { CONSTANTS } from '../../ops/config/constants.ts'
import { toAnswerError } from './client/connection-error.ts'
import { assertFolder, isUrl, type Surroundings } from './command.ts'
import { openRemote, type RemoteFlags } from './remote.ts'

/**
 * Loads a catalog once, as the service would, and serves nothing. Opens no dependencies. Rejects with a
 * CatalogError that has every problem; a required setting without a value is none.
 * @param folder the folder of TRIVET_CATALOG by default
 */
export async function loadCatalog (
  folder: string | undefined, { environment, guard }: Surroundings
): Promise<LoadedCatalog> {
  if (folder !== undefined) assertFolder(folder)
  const { catalog, maxResourceBytes } = readConfig({
    TRIVET_CATALOG: folder ?? environment.TRIVET_CATALOG,
    TRIVET_MAX_RESOURCE_BYTES: environment.TRIVET_MAX_RESOURCE_BYTES
  })
  await assertLayout(catalog)
  const trivet = await import('../../index.ts')
  const source = openCatalogFolder(catalog, { maxResourceBytes, watchMode: 'off', trivet })
  return await guard.run(source.name, async () => {
    const contents = await source.load()
    const readSetting = createSettingReader(environment)
    const compileUpstream = createUpstreamCompiler()
    const compiler = new CatalogCompiler({
      ...READ_MORE_OPTIONS,
      pageSize: CONSTANTS.pageSize,
      readSetting,
      compileUpstream
    })
    return { contents, snapshot: await withLines(source.name, compiler.compile(contents)) }
  })
}

/** The folder of the catalog that a command names. */
export function findCatalog (folder: string | undefined, { environment }: Surroundings): string {
  return readConfig({ TRIVET_CATALOG: folder ?? environment.TRIVET_CATALOG }).catalog
}

/** One side of `trivet diff`. */
export interface ComparedCatalog {
  readonly offered: Offered
  /** The text of a file that an offered primitive names. `undefined` if there is none. */
  read (file: string): Promise<string | undefined>
  close (): Promise<void>
}

/** Rejects with a CatalogError, a ConnectionError or a UsageError. */
export async function openCompared (
  place: string, flags: RemoteFlags, surroundings: Surroundings
): Promise<ComparedCatalog> {
  if (isUrl(place)) return await openUrl(place, flags, surroundings)
  assertFolder(place)
  if (await stat(place).then((stats) => stats.isDirectory(), () => false)) {
    return await openFolder(place, surroundings, async () => {})
  }
  const { checkOut } = await import('./git-revision.ts')
  const { catalog } = readConfig({ TRIVET_CATALOG: surroundings.environment.TRIVET_CATALOG })
  const { folder, remove } = await checkOut(place, catalog, surroundings)
  return await openFolder(folder, surroundings, remove)
}

async function openFolder (
  folder: string, surroundings: Surroundings, close: () => Promise<void>
): Promise<ComparedCatalog> {
  try {
    const offered = offeredBy(await loadCatalog(folder, surroundings))
    return {
      offered,
      read: async (file) => await readFile(join(folder, file), 'utf8').catch(() => undefined),
      close
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function openUrl (
  url: string, flags: RemoteFlags, surroundings: Surroundings
): Promise<ComparedCatalog> {
  const { caller, close } = await openRemote(url, flags, surroundings)
  try {
    const { tools, prompts, resources, templates, skills } = await caller.list()
    const skillFiles = skills.flatMap((skill) => skill.resources === 'dynamic' ? [] : skill.resources)
    const files = new Set(skillFiles.map(({ uri }) => uri))
    const toOffered = <E extends object>(entries: readonly E[], keyOf: (entry: E) => string) => new Map(
      entries.map((entry): [string, OfferedPrimitive] => (
        [keyOf(entry), { json: JSON.stringify(entry), scopes: undefined, file: url }]
      ))
    )
    const offered = {
      // A folder does not have the tool of the service itself.
      tool: toOffered(tools.filter(({ name }) => name !== CONTINUE_TOOL), ({ name }) => name),
      prompt: toOffered(prompts, ({ name }) => name),
      resource: toOffered(resources.filter(({ uri }) => !files.has(uri)), ({ uri }) => uri),
      'resource template': toOffered(templates, ({ uriTemplate }) => uriTemplate),
      skill: toOffered(skills, ({ uri }) => uri)
    }
    return { offered, read: async () => undefined, close: async () => {} }
  } catch (error) {
    throw toAnswerError(url, error)
  } finally {
    await close()
  }
}
