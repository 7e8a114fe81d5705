// Tells a catalog from what is no folder, and from the folder of a project around it, in which nothing would
// be found to serve.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CatalogError } from '../compiled/problem.ts'
import { ruleOf } from './error-problem.ts'
import { isMissingPath } from './files/folder-files.ts'
import { SERVER_FILE } from './server-yaml.ts'

const PARTS = [SERVER_FILE, 'tools', 'prompts', 'resources', 'skills', 'apps']

/** Rejects with a CatalogError that says why the folder cannot be read. */
export async function assertReadable (root: string): Promise<void> {
  const rule = await readdir(root).then(() => undefined, (error: unknown) => {
    return isMissingPath(error)
      ? 'is not a folder; set TRIVET_CATALOG to the folder of the catalog, or write one by `npx trivet init`'
      : `cannot be read: ${ruleOf(error)}`
  })
  if (rule !== undefined) throw new CatalogError([{ file: root, place: '', rule }])
}

/** Rejects with a CatalogError for a folder that has files, and no part of a catalog. It may be empty. */
export async function assertLayout (folder: string): Promise<void> {
  const names = await namesIn(folder)
  if (names.length === 0 || hasPart(names)) return
  const inner = await Promise.all(names.map(async (name) => hasPart(await namesIn(join(folder, name)))))
  const catalog = names[inner.indexOf(true)]
  const advice = catalog === undefined ? 'name the folder that has them' : `name ${join(folder, catalog)}`
  throw new CatalogError([{
    file: folder, place: '', rule: `is no catalog: it has none of ${PARTS.join(', ')}; ${advice}`
  }])
}

function hasPart (names: readonly string[]): boolean {
  return PARTS.some((part) => names.includes(part))
}

/** Empty for what is no folder, or cannot be read: the load says so. */
async function namesIn (folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => [])
  return names.filter((name) => !name.startsWith('.') && name !== 'node_modules')
}
