// The digest of a catalog folder: of every module that was read, and of every file that is no module. Files
// that a module reads by itself, and packages, do not count.

import { hash } from 'node:crypto'
import { statSync } from 'node:fs'
import { basename, sep } from 'node:path'
import type { FileModule } from '../../modules/reusable-modules.ts'
import { SourceModule } from '../../modules/source-module.ts'
import type { FileDigests } from '../files/file-digests.ts'
import { toStamp, type FolderFile } from '../files/folder-files.ts'

interface DigestedFiles {
  readonly modules: readonly FileModule[]
  /** The absolute paths of the files that modules import. */
  readonly imported: ReadonlySet<string>
  readonly files: readonly FolderFile[]
  readonly fileDigests: FileDigests
}

/** Other imported files are add-ons, which a reload does not load again. */
const TEXT = /\.(?:[cm]?[jt]s|[jt]sx|json)$/

export async function digestFiles (
  root: string, { modules, imported, files, fileDigests }: DigestedFiles
): Promise<{ readonly digest: string, readonly fileDigests: ReadonlyMap<string, string> }> {
  const digests = new Map<string, string>()
  for (const module of modules) {
    if (module instanceof SourceModule) digests.set(module.file, module.compiled.digest)
    else digests.set(module.file, await digestOf(module.file, fileDigests))
  }
  for (const file of imported) {
    if (!digests.has(file) && TEXT.test(file)) digests.set(file, await digestOf(file, fileDigests))
  }
  for (const file of files) digests.set(file.absolutePath, await fileDigests.of(file))
  fileDigests.forgetUnused()
  const named = [...digests].map(([file, digest]) => [nameIn(root, file), digest] as const)
  // Sorted: modules are read in an order that depends on time.
  const lines = named.map(([name, digest]) => `${name} ${digest}`).sort()
  return { digest: hash('sha256', lines.join('\n')), fileDigests: new Map(named) }
}

async function digestOf (absolutePath: string, fileDigests: FileDigests): Promise<string> {
  const facts = statSync(absolutePath, { throwIfNoEntry: false })
  if (facts === undefined) return ''
  return await fileDigests.of({ absolutePath, size: facts.size, stamp: toStamp(facts) })
}

/** The path in the folder, or the name of a file elsewhere: the target of a link has a path of its own. */
function nameIn (root: string, file: string): string {
  const path = file.startsWith(root + sep) ? file.slice(root.length + 1) : basename(file)
  return path.startsWith('..') ? basename(file) : path
}
