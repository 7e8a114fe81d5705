// The files that `watchIgnore` of server.yaml leaves unwatched.

import type { Matcher } from 'picomatch'
import { readServerSettings } from '../server-yaml.ts'

export interface IgnoredPaths {
  /** Changes with the globs. */
  readonly key: string
  /** @param path relative to the catalog folder, with forward slashes. */
  has (path: string): boolean
  /** Takes the place of the globs from before. */
  set (globs: readonly string[]): Promise<void>
}

export function createIgnoredPaths (): IgnoredPaths {
  let key = ''
  let matches: Matcher | undefined
  return {
    get key () { return key },
    has: (path) => matches?.(path) === true,
    async set (globs) {
      const next = globs.join('\n')
      if (next === key) return
      // Only catalogs with globs load the library.
      const { default: picomatch } = await import('picomatch')
      // `data/**` also matches the folder itself: nobody then looks into it.
      matches = globs.length === 0 ? undefined : picomatch([...globs], { dot: true })
      key = next
    }
  }
}

/** The globs before the first load. A file with a problem has none: the load reports it. */
export async function readIgnored (root: string): Promise<readonly string[]> {
  return await readServerSettings(root).then(({ watchIgnore }) => watchIgnore, () => [])
}
