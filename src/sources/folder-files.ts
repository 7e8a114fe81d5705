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
 * Whether files and folders of this name belong to no catalog. Names with a leading dot are editors' swap
 * files, version control, and internal files of a ConfigMap mount. The root of a volume has a folder
 * `lost+found`, which only the administrator can read.
 */
export function isForeignName (name: string): boolean {
  return name.startsWith('.') || name === 'node_modules' || name === 'lost+found'
}

/** Whether the error says that a path does not exist. */
export function isMissingPath (error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/**
 * All files below a folder, in the order of their paths. A missing folder has no files. Links are followed
 * unless they lead out of the folder: a mounted ConfigMap consists of links.
 * @param report is called for each path that cannot be read, such as a link to itself
 */
export async function listFiles (
  folder: string, report: (path: string, error: unknown) => void
): Promise<FolderFile[]> {
  const root = await attempt('', realpath(folder))
  if (root === undefined) return []
  const files: FolderFile[] = []
  await walk(root, '', [root])
  return files.sort((a, b) => a.path < b.path ? -1 : 1)

  async function walk (folderRoot: string, path: string, above: readonly string[]): Promise<void> {
    for (const name of await attempt(path, readdir(join(folder, path))) ?? []) {
      if (isForeignName(name)) continue
      const relative = posix.join(path, name)
      const absolutePath = join(folder, relative)
      const real = await attempt(relative, realpath(absolutePath))
      if (real === undefined || !isWithin(folderRoot, real)) continue
      const facts = await attempt(relative, stat(real))
      if (facts?.isDirectory() === true && !above.includes(real)) {
        await walk(folderRoot, relative, [...above, real])
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

  /** `undefined` for a path that does not exist, such as the target of a link. Reports every other error. */
  async function attempt<T> (path: string, operation: Promise<T>): Promise<T | undefined> {
    try {
      return await operation
    } catch (error) {
      if (!isMissingPath(error)) report(path, error)
      return undefined
    }
  }
}
