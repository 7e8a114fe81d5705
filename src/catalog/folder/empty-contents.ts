// The contents of a catalog that offers nothing. They are served while the files of the author have problems.

import type { CacheScope } from '../../protocol/primitives.ts'
import type { CatalogContents, ServerSettings } from '../compiled/contents.ts'
import { readServerSettings, toServerFile } from './server-yaml.ts'

/** Has the name and the settings of server.yaml if that file has no problem. */
export async function readEmptyContents (root: string, openCacheScope: CacheScope): Promise<CatalogContents> {
  const server = await readServerSettings(root, openCacheScope)
    .catch(() => toServerFile(root, {}, openCacheScope))
  // A client must not keep the empty lists.
  return createEmptyContents({ ...server, listTtlMs: 0 })
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
    problems: []
  }
}
