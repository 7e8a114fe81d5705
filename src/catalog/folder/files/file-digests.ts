// Digests of the contents of files, and of a whole catalog folder. A file is read again only when it may have
// changed.

import { createHash, hash } from 'node:crypto'
import { createReadStream, readFileSync, statSync } from 'node:fs'
import { basename, sep } from 'node:path'
import { Generations } from '../../../base/generations.ts'
import type { FileModule } from '../../modules/reusable-modules.ts'
import { SourceModule } from '../../modules/source-module.ts'
import { yieldToRequests } from '../../modules/yield-to-requests.ts'
import { toStamp, type FolderFile } from './folder-files.ts'

/** Reading a small file at once takes a tenth of the CPU time of a stream. */
const MAX_SYNC_BYTES = 65_536

export class FileDigests {
  readonly #digests = new Generations<{ readonly stamp: string, readonly digest: string }>()
  readonly #maxBytes: number

  /** @param maxBytes the size of the largest file that clients can read. Larger files have no digest. */
  constructor (maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Empty for a file that cannot be read, or is larger than `maxBytes`. */
  async of ({ absolutePath, size, stamp }: Omit<FolderFile, 'path'>): Promise<string> {
    await yieldToRequests()
    const earlier = this.#digests.get(absolutePath)
    if (earlier?.stamp === stamp) return earlier.digest
    const digest = size > this.#maxBytes ? '' : await digestFile(absolutePath, size).catch(() => '')
    return this.#digests.set(absolutePath, { stamp, digest }).digest
  }

  /** Drops the files that were not asked for since the last call. */
  forgetUnused (): void {
    this.#digests.forgetUnused()
  }
}

async function digestFile (path: string, size: number): Promise<string> {
  if (size <= MAX_SYNC_BYTES) return hash('sha256', readFileSync(path))
  const digest = createHash('sha256')
  for await (const chunk of createReadStream(path)) digest.update(chunk)
  return digest.digest('hex')
}

interface DigestedFiles {
  readonly modules: readonly FileModule[]
  /** The absolute paths of the files that modules import. */
  readonly imported: ReadonlySet<string>
  readonly files: readonly FolderFile[]
  readonly fileDigests: FileDigests
}

/** Other imported files are add-ons, which a reload does not load again. */
const TEXT = /\.(?:[cm]?[jt]s|[jt]sx|json)$/

/**
 * Digests every module that was read, and every file that is no module. Files that a module reads by itself,
 * and packages, do not count.
 */
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
  const entries = [...digests].map(([file, digest]) => [nameIn(root, file), digest] as const)
  // Sorted: modules are read in an order that depends on time.
  const lines = entries.map(([name, digest]) => `${name} ${digest}`).sort()
  return { digest: hash('sha256', lines.join('\n')), fileDigests: new Map(entries) }
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
