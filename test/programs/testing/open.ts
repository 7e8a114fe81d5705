// A catalog of a test, opened as its author would open it.

import type { Test } from 'tap'
import { openCatalog, type TestCatalog, type TestOptions } from '../../../src/testing.ts'
import { writeCatalog, type Files } from '../../helpers/catalog-folder.ts'

export async function open (t: Test, files: Files, options?: TestOptions): Promise<TestCatalog> {
  const catalog = await openCatalog(await writeCatalog(t, files), options)
  t.teardown(async () => await catalog.close())
  return catalog
}

/** The source of a module with several definitions. */
export function toModule (definitions: string): string {
  return 'import { definePrompt, defineHandle, defineResource, defineResourceTemplate, defineTool, elicit, ' +
    `roots, sample, ToolError } from 'trivet'\n${definitions}`
}
