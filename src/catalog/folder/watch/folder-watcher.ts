// Detects changes of a folder: a rename over a file (editors), a rewrite in place, an addition, a removal,
// the swap of the `..data` link, which changes a mounted ConfigMap, and the replacement of the whole folder.

import { watch as watchNode } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { watch as watchFiles } from 'chokidar'
import { codeOf } from '../../../base/words.ts'
import { clock, type Timer, timers } from '../../../base/time.ts'
import { isObject } from '../../../platform/protocol/json-rpc.ts'
import { isNeverPart, type IgnoredPaths } from '../catalog-parts.ts'
import { isForeignName } from '../files/folder-files.ts'
import { identify, isReplaced } from './folder-identity.ts'

/** `poll` for volumes whose changes the kernel does not report: many network and virtual file systems. */
export type WatchMode = 'on' | 'off' | 'poll'

export interface FolderListener {
  /** Called after each group of changes. */
  onChange (): void
  /** Called when some changes may go unnoticed. */
  onError (error: unknown): void
  /** Whether a change of the file counts. The path is relative to the folder, with forward slashes. */
  isPart (path: string): boolean
  /** Whether the folder may hold such files. */
  mayHoldParts (path: string): boolean
  /** What is not watched at all. */
  readonly ignored: Pick<IgnoredPaths, 'key' | 'has'>
}

/** Changes come in groups. The callback waits until there was no change for this time, in milliseconds. */
const SETTLE_MS = 60
/** The callback waits no longer than this, even if changes continue, in milliseconds. */
const MAX_SETTLE_MS = 1000
const POLL_INTERVAL_MS = 1000
/** After this time a new folder is watched, in milliseconds. */
const NEW_FOLDER_MS = 50
/** The time between two checks whether the folder was replaced. */
const IDENTITY_INTERVAL_MS = 1000

/** Resolves once the folder is watched. The folder may be missing. Watches until the result is called. */
export async function watchFolder (
  root: string, mode: WatchMode, listener: FolderListener
): Promise<() => Promise<void>> {
  const { onChange, onError, ignored } = listener
  if (mode === 'off') return async () => {}
  const changes = createGroups(onChange)
  const open = async () => await openWatchers(root, mode, { ...listener, onChange: changes.note })
  let isClosed = false
  // Before the watchers open, so that a replacement in between is detected.
  let identity = await identify(root)
  let { key } = ignored
  let closeWatchers = await open()
  let checking: Promise<void> | undefined

  // Watchers stay with the files that they were opened for, so a replaced folder needs new ones.
  async function check (): Promise<void> {
    const now = await identify(root)
    const isOutdated = isReplaced(identity, now) || key !== ignored.key
    identity = now
    if (!isOutdated || isClosed) return
    key = ignored.key
    await closeWatchers()
    closeWatchers = await open()
    // Files that are watched only now may have changed before.
    changes.note()
  }

  const timer = timers.setInterval(() => {
    checking ??= check().catch(onError).finally(() => { checking = undefined })
  }, IDENTITY_INTERVAL_MS).unref()
  return async () => {
    isClosed = true
    timers.clear(timer)
    await checking
    changes.close()
    await closeWatchers()
  }
}

/** Calls back once for changes that are close together. */
function createGroups (onGroup: () => void) {
  let timer: Timer | undefined
  let firstAt = Infinity
  return {
    note () {
      timers.clear(timer)
      firstAt = Math.min(firstAt, clock.monotonic())
      timer = timers.setTimeout(() => {
        firstAt = Infinity
        onGroup()
      }, Math.min(SETTLE_MS, Math.max(0, firstAt + MAX_SETTLE_MS - clock.monotonic())))
    },
    close () { timers.clear(timer) }
  }
}

async function openWatchers (
  root: string, mode: WatchMode, { onChange, onError, isPart, mayHoldParts, ignored }: FolderListener
): Promise<() => Promise<void>> {
  const toPath = (path: string) => relative(root, path).split(sep).join('/')
  const mounts = await findMounts(root)
  // The watcher would watch the folder above a missing one.
  if (mounts === undefined) return async () => {}
  // The watcher asks for a link before it follows the link. A look at each file would take 2.6 % of a start
  // with 10,000 files (profile, Node 20).
  const links = new Set<string>()
  const files = watchFiles(root, {
    ignoreInitial: true,
    usePolling: mode === 'poll',
    interval: POLL_INTERVAL_MS,
    // Changes are grouped later, so the watcher need not delay a rename.
    atomic: false,
    ignorePermissionErrors: true,
    ignored (path, stats) {
      // The watcher of its folder reports it. A watcher for each of 10,000 files takes 110 MB and a second.
      if (mode === 'on' && stats?.isFile() === true && !links.has(path)) return true
      if (stats?.isSymbolicLink() === true) links.add(path)
      return path !== root && (isNeverPart(basename(path)) || ignored.has(toPath(path)))
    }
  })
  files.on('raw', (_event, name: unknown, details) => {
    if (mode !== 'on' || typeof name !== 'string' || !isObject(details)) return
    if (isPart(toPath(join(String(details.watchedPath), name)))) onChange()
  })
  /** Files may have been written before the new folder was watched. */
  async function noteFilesIn (folder: string): Promise<void> {
    const names = await readdir(folder).catch(() => [])
    if (names.some((name) => isPart(toPath(join(folder, name))))) onChange()
  }
  files.on('all', (event, path) => {
    if (!event.endsWith('Dir')) {
      if (isPart(toPath(path))) onChange()
    } else if (mode === 'on' && mayHoldParts(toPath(path))) onChange()
    else if (mode === 'on' && event === 'addDir') {
      timers.setTimeout(() => noteFilesIn(path), NEW_FOLDER_MS).unref()
    }
  })
  await new Promise<void>((resolve) => {
    files.once('ready', resolve)
    files.on('error', (error) => {
      // A link to itself is a problem of the catalog, which the load reports.
      if (codeOf(error) === 'ELOOP') return
      onError(error)
      // Some errors prevent `ready`.
      resolve()
    })
  })
  // The watcher reports no event for files when a link to their folder is replaced.
  const mountWatchers = [...new Set([root, ...mounts])].flatMap((mount) => {
    try {
      const onEntry = (_: string, name: string | null) => { if (name?.startsWith('..') === true) onChange() }
      return [watchNode(mount, onEntry).on('error', onChange)]
    } catch (error) {
      onError(error)
      return []
    }
  })
  return async () => {
    for (const watcher of mountWatchers) watcher.close()
    await files.close()
  }
}

/**
 * The folders, at or below this one, that a ConfigMap is mounted on. Each has an entry `..data`. `undefined`
 * if the folder cannot be read.
 */
async function findMounts (folder: string): Promise<string[] | undefined> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => undefined)
  if (entries === undefined) return undefined
  const folders = entries.filter((entry) => entry.isDirectory() && !isForeignName(entry.name))
  const below = await Promise.all(folders.map(async ({ name }) => await findMounts(join(folder, name)) ?? []))
  return [...(entries.some(({ name }) => name === '..data') ? [folder] : []), ...below.flat()]
}
