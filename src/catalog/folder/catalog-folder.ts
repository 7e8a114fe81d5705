// A catalog in a folder: loads it, and watches it.

import { relative, resolve, sep } from 'node:path'
import { createCompiledModules } from '../modules/compiled-module.ts'
import type { KnownApps } from './apps/read-apps.ts'
import { isPart, mayHoldParts } from './catalog-parts.ts'
import type { CatalogSource } from './catalog-source.ts'
import { createFileDigests } from './files/file-digests.ts'
import { createKnownSidecars } from './files/sidecars.ts'
import { loadFolder, type LoadedModules, type LoadOptions } from './load-folder.ts'
import { watchFolder, type WatchMode } from './watch/folder-watcher.ts'
import { createIgnoredPaths, readIgnored } from './watch/ignored-paths.ts'

interface CatalogFolderOptions extends LoadOptions {
  readonly watchMode: WatchMode
}

/** @param folder absolute, or relative to the working directory of the process. */
export function openCatalogFolder (folder: string, options: CatalogFolderOptions): CatalogSource {
  const root = resolve(folder)
  const compiled = createCompiledModules()
  let fileDigests = createFileDigests(options.maxResourceBytes)
  let knownSidecars = createKnownSidecars()
  let knownApps: KnownApps = new Map()
  // Never shrinks, so that it is complete during a load too.
  const imported = new Set<string>()
  const onImport = (file: string) => { imported.add(relative(root, file).split(sep).join('/')) }
  const ignored = createIgnoredPaths()
  let loaded: LoadedModules | undefined
  let served: LoadedModules | undefined
  return {
    name: root,
    async load () {
      const { contents, modules, watchIgnore } = await loadFolder(
        root, { ...options, compiled, fileDigests, knownSidecars, knownApps, onImport }, served
      )
      if (contents.problems.length === 0) await ignored.set(watchIgnore)
      loaded = modules
      return contents
    },
    // The modules of a load that was refused may not work, although they were evaluated.
    accepted () { served = loaded },
    forget () {
      served = undefined
      fileDigests = createFileDigests(options.maxResourceBytes)
      knownSidecars = createKnownSidecars()
      knownApps = new Map()
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
