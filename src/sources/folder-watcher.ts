// Notices that a folder has changed, however it was changed: a rename over a file (editors), a rewrite in place,
// an addition, a removal, and the swap of the `..data` link by which a mounted ConfigMap changes.

import { watch as watchNode } from 'node:fs'
import { watch as watchFiles } from 'chokidar'

/** `poll` for volumes whose changes the kernel does not report: many network and virtual file systems. */
export type WatchMode = 'on' | 'off' | 'poll'

/** A change rarely comes alone: this long must pass without another, in milliseconds. */
const SETTLE_MS = 60
const POLL_INTERVAL_MS = 1000

/** Resolves when it is watching. Calls back after each change has settled, until the returned function is called. */
export async function watchFolder (root: string, mode: WatchMode, onChange: () => void): Promise<() => Promise<void>> {
  if (mode === 'off') return async () => {}
  let timer: NodeJS.Timeout | undefined
  const settle = () => {
    clearTimeout(timer)
    timer = setTimeout(onChange, SETTLE_MS)
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
  const links = watchNode(root, (_, name) => { if (name?.startsWith('..') === true) settle() })
  await new Promise<void>((resolve, reject) => {
    files.once('ready', resolve)
    files.once('error', reject)
  })
  return async () => {
    clearTimeout(timer)
    links.close()
    await files.close()
  }
}
