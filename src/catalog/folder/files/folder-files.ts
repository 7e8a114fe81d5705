// Lists the regular files of a folder, without hidden files and files outside it, and groups files by
// directory.

import { lstatSync, type Stats } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { join, posix, sep } from 'node:path'
import { codeOf } from '../../../base/words.ts'
import { yieldToRequests } from '../../../base/turns.ts'

export interface FolderFile {
  /** Relative to the folder, with forward slashes. */
  readonly path: string
  readonly absolutePath: string
  readonly size: number
  /** Changes if the contents may have changed. */
  readonly stamp: string
}

/** What Node puts in place of bytes that are not UTF-8. A path with it leads to no such file. */
const UNREADABLE = '\u{fffd}'

/** Whether a real path lies within a real folder. */
export function isWithin (folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** What editors and desktops put beside files while they are open or shown. */
const TEMPORARY = /~$|^#.*#$|\.sw[op]$|\.tmp$|^4913$|^(?:eh)?thumbs\.db$|^desktop\.ini$/i

/**
 * Whether files and folders of this name belong to no catalog. Names with a leading dot are editors' swap
 * files, version control, and internal files of a ConfigMap mount. The root of a volume has a folder
 * `lost+found`, which only the administrator can read.
 */
export function isForeignName (name: string): boolean {
  return name.startsWith('.') || name === 'node_modules' || name === 'lost+found' || TEMPORARY.test(name)
}

/** Changes if the contents of the file may have changed. */
export function toStamp ({ mtimeMs, size, ino }: Stats): string {
  return [mtimeMs, size, ino].join(':')
}

/** Whether the error says that a path does not exist. */
export function isMissingPath (error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR'
}

interface ListListener {
  /** Called for each path that cannot be read, such as a link to itself. */
  onError (path: string, error: unknown): void
  /** Called for each path that is no file of the folder, with the reason. Not called for foreign names. */
  onPassedOver (path: string, reason: string): void
}

/**
 * All files below a folder, in the order of their paths. A missing folder has no files. Links are followed
 * unless they lead out of the folder: a mounted ConfigMap consists of links.
 */
export async function listFiles (
  folder: string, { onError, onPassedOver }: ListListener
): Promise<FolderFile[]> {
  const root = await attempt('', realpath(folder))
  if (root === undefined) return []
  const files: FolderFile[] = []
  await walk({ absolutePath: folder, real: root, path: '' }, [root])
  return files.sort((a, b) => a.path < b.path ? -1 : 1)

  async function walk (directory: WalkedFolder, above: readonly string[]): Promise<void> {
    const entries = await attempt(directory.path, readdir(directory.real, { withFileTypes: true }))
    for (const entry of entries ?? []) {
      const { name } = entry
      if (isForeignName(name)) continue
      const turn = yieldToRequests()
      if (turn !== undefined) await turn
      const absolutePath = join(directory.absolutePath, name)
      const path = posix.join(directory.path, name)
      // Only a link may lead out of the folder.
      const real = entry.isSymbolicLink()
        ? await attempt(path, realpath(absolutePath))
        : join(directory.real, name)
      if (real === undefined || root === undefined) continue
      if (!isWithin(root, real)) {
        onPassedOver(path, 'is a link that leads out of its folder: put the file itself here')
        continue
      }
      const facts = factsAt(path, real)
      if (facts?.isFile() === true) {
        files.push({ path, absolutePath, size: facts.size, stamp: toStamp(facts) })
      } else if (facts === undefined && name.includes(UNREADABLE)) {
        onPassedOver(path, 'has a name that is not UTF-8: rename it')
      } else if (facts?.isDirectory() === false) onPassedOver(path, 'is no regular file')
      else if (above.includes(real)) onPassedOver(path, 'is a link to a folder that it lies in')
      else if (facts !== undefined) await walk({ absolutePath, real, path }, [...above, real])
    }
  }

  /** Synchronous: it takes microseconds, and a tenth of the CPU time of the asynchronous function. */
  function factsAt (path: string, real: string): Stats | undefined {
    try {
      return lstatSync(real, { throwIfNoEntry: false })
    } catch (error) {
      onError(path, error)
      return undefined
    }
  }

  /** `undefined` for a path that does not exist, such as the target of a link. Reports every other error. */
  async function attempt<T> (path: string, operation: Promise<T>): Promise<T | undefined> {
    try {
      return await operation
    } catch (error) {
      if (!isMissingPath(error)) onError(path, error)
      else if (path !== '') onPassedOver(path, 'is a link to nothing')
      return undefined
    }
  }
}

interface WalkedFolder extends Pick<FolderFile, 'path' | 'absolutePath'> { readonly real: string }

export interface Directory<F> {
  /** The files directly in it. */
  readonly files: readonly F[]
  /** The paths of the directories directly in it. */
  readonly directories: readonly string[]
}

/**
 * Groups files by directory. The key is the path without a slash at its end, and empty for the folder itself.
 * @param files their paths are relative to the folder.
 */
export function findDirectories<F extends { readonly path: string }> (
  files: readonly F[]
): ReadonlyMap<string, Directory<F>> {
  const directories = new Map<string, { readonly files: F[], readonly directories: string[] }>()
  function open (path: string): { readonly files: F[], readonly directories: string[] } {
    const existing = directories.get(path)
    if (existing !== undefined) return existing
    const directory = { files: [], directories: [] }
    directories.set(path, directory)
    if (path !== '') open(parentOf(path)).directories.push(path)
    return directory
  }
  for (const file of files) open(parentOf(file.path)).files.push(file)
  return directories
}

/** Returns the path of the directory that a path lies in. Empty for the folder itself. */
export function parentOf (path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}
