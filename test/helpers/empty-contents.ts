import type { CatalogContents } from '../../src/catalog/compiled/contents.ts'
import { createEmptyContents } from '../../src/catalog/folder/empty-contents.ts'

/** The contents of a catalog without primitives. A test adds what it is about. */
export const EMPTY_CONTENTS: CatalogContents = createEmptyContents({
  info: { name: 's', version: '1' },
  instructions: undefined,
  listTtlMs: 0,
  readTtlMs: 0,
  openCacheScope: 'public',
  pageSize: undefined,
  continuesCalls: true,
  scopes: [],
  limits: undefined
})
