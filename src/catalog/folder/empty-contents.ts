// The contents of a catalog that offers nothing. They are served while the files of the author have problems.

import type { CacheScope } from '../../platform/protocol/primitives.ts'
import type { CatalogContents, ServerSettings } from '../compiled/contents.ts'
import { readServerSettings, toServerFile } from './server-yaml.ts'

/** Has the name of server.yaml, if that file can be read. Its other settings may be among the problems. */
export async function readEmptyContents (root: string, openCacheScope: CacheScope): Promise<CatalogContents> {
  const settings = toServerFile(root, {}, openCacheScope)
  const { info: { name, title, version } } = await readServerSettings(root).catch(() => settings)
  // A client must not keep the empty lists.
  const info = { name, version, ...title !== undefined && { title } }
  return createEmptyContents({ ...settings, info, listTtlMs: 0 })
}

export function createEmptyContents (server: ServerSettings): CatalogContents {
  return {
    server,
    tools: [],
    prompts: [],
    resources: [],
    unlisted: [],
    templates: [],
    skills: [],
    apps: new Map(),
    handles: [],
    settings: [],
    dependencies: [],
    upstreams: [],
    unchangedModules: new Set(),
    stamps: new Map(),
    digest: '',
    fileDigests: new Map(),
    passedOver: [],
    foreignKeys: [],
    leftOut: [],
    problems: []
  }
}
