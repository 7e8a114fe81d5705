// Detects that a folder was replaced by another of the same path: removed and made again, moved, or reached
// through a link that was swapped. The kernel reports no event for most of these.

import { realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

const PARTS = ['tools', 'prompts', 'resources', 'lib']

/** Returns the identities of the catalog folder and of the folders in it. Empty for a missing folder. */
export async function identify (root: string): Promise<readonly string[]> {
  return await Promise.all([root, ...PARTS.map((name) => join(root, name))].map(identityOf))
}

/** Watchers notice by themselves that a folder in the catalog folder appears or disappears. */
export function isReplaced (before: readonly string[], now: readonly string[]): boolean {
  return now.some((identity, index) => {
    return identity !== before[index] && (index === 0 || (identity !== '' && before[index] !== ''))
  })
}

async function identityOf (folder: string): Promise<string> {
  try {
    const [real, { dev, ino, birthtimeMs }] = await Promise.all([realpath(folder), stat(folder)])
    // A new folder may get the inode of a removed one, but not its time of creation.
    return `${dev}:${ino}:${birthtimeMs}:${real}`
  } catch {
    return ''
  }
}
