// One side of `trivet diff`: a folder, a revision of git, or a service.

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { offeredBy, type Offered, type OfferedPrimitive } from '../catalog/contracts/offered.ts'
import { readConfig } from '../ops/config/config.ts'
import { isUrl, type Surroundings } from './command.ts'
import { loadCatalog } from './loaded-catalog.ts'
import { openRemote, type RemoteFlags } from './remote.ts'

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
  if (await stat(place).then((found) => found.isDirectory(), () => false)) {
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
    const read = async (file: string) => await readFile(join(folder, file), 'utf8').catch(() => undefined)
    return { offered, read, close }
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
    const ofSkills = skills.flatMap((skill) => skill.resources === 'dynamic' ? [] : skill.resources)
    const files = new Set(ofSkills.map(({ uri }) => uri))
    const toOffered = <E extends object>(entries: readonly E[], keyOf: (entry: E) => string) => new Map(
      entries.map((entry): [string, OfferedPrimitive] => (
        [keyOf(entry), { json: JSON.stringify(entry), scopes: undefined, file: url }]
      ))
    )
    const offered = {
      tool: toOffered(tools, ({ name }) => name),
      prompt: toOffered(prompts, ({ name }) => name),
      resource: toOffered(resources.filter(({ uri }) => !files.has(uri)), ({ uri }) => uri),
      'resource template': toOffered(templates, ({ uriTemplate }) => uriTemplate),
      skill: toOffered(skills, ({ uri }) => uri)
    }
    return { offered, read: async () => undefined, close: async () => {} }
  } finally {
    await close()
  }
}
