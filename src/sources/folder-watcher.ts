// Detects changes of a folder: a rename over a file (editors), a rewrite in place, an addition, a removal,
// and the swap of the `..data` link, which changes a mounted ConfigMap.

import { watch as watchNode } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { watch as watchFiles } from 'chokidar'

/** `poll` for volumes whose changes the kernel does not report: many network and virtual file systems. */
export type WatchMode = 'on' | 'off' | 'poll'

/** Changes come in groups. The callback waits until there was no change for this time, in milliseconds. */
const SETTLE_MS = 60
/** The callback waits no longer than this, even if changes continue, in milliseconds. */
const MAX_SETTLE_MS = 1000
const POLL_INTERVAL_MS = 1000

/**
 * Resolves once the folder is watched. Calls back after each group of changes, until the returned function is
 * called.
 */
export async function watchFolder (
  root: string, mode: WatchMode, onChange: () => void
): Promise<() => Promise<void>> {
  if (mode === 'off') return async () => {}
  let timer: NodeJS.Timeout | undefined
  let firstAt = Infinity
  const settle = () => {
    clearTimeout(timer)
    firstAt = Math.min(firstAt, performance.now())
    timer = setTimeout(() => {
      firstAt = Infinity
      onChange()
    }, Math.min(SETTLE_MS, Math.max(0, firstAt + MAX_SETTLE_MS - performance.now())))
  }
  const files = watchFiles(root, {
    ignoreInitial: true,
    usePolling: mode === 'poll',
    interval: POLL_INTERVAL_MS,
    // The timer above already groups changes, so the watcher need not delay a rename.
    atomic: false,
    ignored: (path) => /[\\/](?:node_modules|\.git)(?:[\\/]|$)/.test(path.slice(root.length))
  })
  files.on('all', settle)
  // The watcher reports no event for files when a link to their folder is replaced.
  const mounts = new Set([root, ...await findMounts(root)])
  const onEntry = (_: string, name: string | null) => { if (name?.startsWith('..') === true) settle() }
  const links = [...mounts].map((mount) => watchNode(mount, onEntry).on('error', settle))
  await new Promise<void>((resolve, reject) => {
    files.once('ready', resolve)
    // The listener stays: an `error` event without a listener ends the process.
    files.on('error', reject)
  })
  return async () => {
    clearTimeout(timer)
    for (const link of links) link.close()
    await files.close()
  }
}

/** The folders, at or below this one, that a ConfigMap is mounted on. Each has an entry `..data`. */
async function findMounts (folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const folders = entries.filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules'
  )
  const below = await Promise.all(folders.map(async ({ name }) => await findMounts(join(folder, name))))
  return [...(entries.some(({ name }) => name === '..data') ? [folder] : []), ...below.flat()]
}
