// Lists the regular files of a folder, without hidden files and files outside it.

import { readdir, realpath, stat } from 'node:fs/promises'
import { join, posix, sep } from 'node:path'

export interface FolderFile {
  /** Relative to the folder, with forward slashes. */
  readonly path: string
  readonly absolutePath: string
  readonly size: number
  readonly modified: Date
  /** Changes if the contents may have changed. */
  readonly stamp: string
}

/** Whether a real path lies within a real folder. */
export function isWithin (folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/**
 * All files below a folder, in the order of their paths. A missing folder has no files. Links are followed
 * unless they lead out of the folder: a mounted ConfigMap consists of links.
 */
export async function listFiles (folder: string): Promise<FolderFile[]> {
  const root = await realpath(folder).catch(() => undefined)
  if (root === undefined) return []
  const files: FolderFile[] = []
  await walk(folder, '', [root])
  return files.sort((a, b) => a.path < b.path ? -1 : 1)

  async function walk (directory: string, path: string, above: readonly string[]): Promise<void> {
    for (const { name } of await readdir(directory, { withFileTypes: true })) {
      // Names with a leading dot are editors' swap files, version control, and internal files of a ConfigMap
      // mount.
      if (name.startsWith('.') || name === 'node_modules') continue
      const absolutePath = join(directory, name)
      const relative = posix.join(path, name)
      const real = await realpath(absolutePath).catch(() => undefined)
      if (real === undefined || root === undefined || !isWithin(root, real)) continue
      const facts = await stat(real).catch(() => undefined)
      if (facts?.isDirectory() === true && !above.includes(real)) {
        await walk(absolutePath, relative, [...above, real])
      }
      if (facts?.isFile() === true) {
        files.push({
          path: relative,
          absolutePath,
          size: facts.size,
          modified: facts.mtime,
          stamp: `${facts.mtimeMs}:${facts.size}:${facts.ino}`
        })
      }
    }
  }
}
