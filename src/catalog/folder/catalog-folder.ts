// A catalog in a folder: loads it, and watches it.

import { relative, resolve, sep } from 'node:path'
import { Generations } from '../../base/generations.ts'
import { UnchangedFiles } from '../../base/unchanged-files.ts'
import type { OutputContents } from '../../platform/author/define-resource.ts'
import type { CatalogContents } from '../compiled/contents.ts'
import { LIMITS } from '../../platform/limits/limits.ts'
import { CompiledModules } from '../../platform/modules/compiled-module.ts'
import { IgnoredPaths, isPart, mayHoldParts, readIgnored } from './catalog-parts.ts'
import { FileDigests } from './files/file-digests.ts'
import { loadFolder, type LoadedModules, type LoadOptions, type ReadFiles } from './load-folder.ts'
import { watchFolder, type WatchMode } from './watch/folder-watcher.ts'

export interface CatalogFolder {
  /** The absolute path, which the log has. */
  readonly name: string
  /** Loads the current contents, with all problems found in them. Rejects if the folder cannot be read. */
  load (): Promise<CatalogContents>
  /** Called when the contents that were loaded last are served. The next load may reuse parts of them. */
  accepted (): void
  /** The next load evaluates every module and reads every file, whether or not they seem to have changed. */
  forget (): void
  /**
   * Calls back after each change, until the returned function is called. Changes close together count as one.
   * @param onError is called when some changes may go unnoticed
   */
  watch (onChange: () => void, onError: (error: unknown) => void): Promise<() => Promise<void>>
}

interface CatalogFolderOptions extends LoadOptions {
  readonly watchMode: WatchMode
}

/** @param folder absolute, or relative to the working directory of the process. */
export function openCatalogFolder (folder: string, options: CatalogFolderOptions): CatalogFolder {
  const root = resolve(folder)
  const compiled = new CompiledModules()
  const createReadFiles = (): ReadFiles => ({
    fileDigests: new FileDigests(options.maxResourceBytes),
    sidecars: new Generations(),
    apps: new Generations()
  })
  let readFiles = createReadFiles()
  const { maxUnchangedBytes = LIMITS.unchangedFileBytes.max } = options
  const unchangedFiles = new UnchangedFiles<OutputContents>(maxUnchangedBytes)
  // Never shrinks, so that it is complete during a load too.
  const imported = new Set<string>()
  const onImport = (file: string) => { imported.add(relative(root, file).split(sep).join('/')) }
  const ignored = new IgnoredPaths()
  let last: LoadedModules | undefined
  let served: LoadedModules | undefined
  return {
    name: root,
    async load () {
      const { contents, modules, watchIgnore } = await loadFolder(
        root, { ...options, compiled, readFiles, unchangedFiles, onImport }, served
      )
      if (contents.problems.length === 0) await ignored.set(watchIgnore)
      last = modules
      return contents
    },
    // The modules of a load that was refused may not work, although they were evaluated.
    accepted () { served = last },
    forget () {
      served = undefined
      readFiles = createReadFiles()
    },
    async watch (onChange, onError) {
      await ignored.set(await readIgnored(root))
      return await watchFolder(root, options.watchMode, {
        onChange,
        onError,
        ignored,
        isPart: (path) => !ignored.has(path) && isPart(path, imported),
        mayHoldParts: (path) => mayHoldParts(path, imported)
      })
    }
  }
}
