import type { CatalogContents } from '../../src/catalog/compiled/contents.ts'

/** The contents of a catalog without primitives. A test adds what it is about. */
export const EMPTY_CONTENTS: CatalogContents = {
  server: {
    info: { name: 's', version: '1' },
    instructions: undefined,
    listTtlMs: 0,
    readTtlMs: 0,
    openCacheScope: 'public',
    pageSize: undefined,
    continuesCalls: true,
    scopes: [],
    limits: undefined
  },
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
