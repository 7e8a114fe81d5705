// Notices that a folder has changed, however it was changed: a rename over a file (editors), a rewrite in
// place, an addition, a removal, and the swap of the `..data` link by which a mounted ConfigMap changes.

import { watch as watchNode } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { watch as watchFiles } from 'chokidar'

/** `poll` for volumes whose changes the kernel does not report: many network and virtual file systems. */
export type WatchMode = 'on' | 'off' | 'poll'

/** A change rarely comes alone: this long must pass without another, in milliseconds. */
const SETTLE_MS = 60
/**
 * But a folder in which something is always being written is not waited for longer than this, in
 * milliseconds.
 */
const MAX_SETTLE_MS = 1000
const POLL_INTERVAL_MS = 1000

/**
 * Resolves when it is watching. Calls back after each change has settled, until the returned function is
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
    // The watcher reports a rename over a file as one change; waiting for more of it is the debounce's job.
    atomic: false,
    ignored: (path) => /[\\/](?:node_modules|\.git)(?:[\\/]|$)/.test(path.slice(root.length))
  })
  files.on('all', settle)
  // A replaced link to a folder is no event of any file in it.
  const mounts = new Set([root, ...await findMounts(root)])
  const links = [...mounts].map(
    (mount) => watchNode(mount, (_, name) => { if (name?.startsWith('..') === true) settle() }).on(
      'error', settle
    )
  )
  await new Promise<void>((resolve, reject) => {
    files.once('ready', resolve)
    // Stays: an error that nobody hears would end the process.
    files.on('error', reject)
  })
  return async () => {
    clearTimeout(timer)
    for (const link of links) link.close()
    await files.close()
  }
}

/**
 * Each folder that a ConfigMap is mounted on, which may be the root or one below it: `..data` stands in it.
 */
async function findMounts (folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const folders = entries.filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules'
  )
  const below = await Promise.all(folders.map(async ({ name }) => await findMounts(join(folder, name))))
  return [...(entries.some(({ name }) => name === '..data') ? [folder] : []), ...below.flat()]
}
