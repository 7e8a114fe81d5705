// Keeps what was made of files, within a bound. Each use looks at the disk once, in 2 µs (Node 20 and 24; 15
// in the thread pool), and once in a turn of the event loop at the real path of the folder. Events of a
// watcher come after the change.

import { fstatSync, lstatSync, realpathSync, type Stats } from 'node:fs'
import { statfs, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { clock } from './time.ts'

/** A file that was opened at its real path. */
export interface OpenedFile {
  readonly handle: FileHandle
  readonly realPath: string
  readonly facts: Stats
}

interface UnchangedFile<V> extends Pick<OpenedFile, 'realPath' | 'facts'> {
  /** A folder, or the path of a file that is a link. */
  readonly place: string
  readonly realPlace: string
  readonly value: V
  /** The monotonic time, in milliseconds. */
  readonly keptAt: number
}

/** File systems count time in steps, and writes through a memory map may leave the times of a file. */
const [LEAST_AGE_MS, MAX_KEPT_MS] = [2000, 10_000]
/** The bytes of an entry, for each letter of its path, and the most for each byte of its file. */
const [ENTRY_BYTES, PATH_FACTOR, TEXT_FACTOR] = [1536, 4, 2]

/**
 * The types of file systems on disks of this machine. A look at another one can block the event loop, and may
 * tell what was true seconds ago.
 */
const LOCAL = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, // ext, xfs, btrfs, f2fs, zfs, bcachefs
  0x01021994, 0x858458f6, 0x794c7630, 0x73717368, 0xe0f5e1e2 // tmpfs, ramfs, overlay, squashfs, erofs
])

export class UnchangedFiles<V extends object> {
  readonly #files: LRUCache<string, UnchangedFile<V>>
  /** Whether the file system is local, by its device. */
  readonly #devices = new Map<number, boolean>()
  /** The real paths of folders in this turn of the event loop. */
  readonly #realPaths = new Map<string, string>()
  readonly #forgetPaths = () => this.#realPaths.clear()

  /** @param maxBytes the most memory of all values together. One file may have a 32nd of it. */
  constructor (maxBytes: number) {
    this.#files = new LRUCache({
      maxSize: maxBytes,
      maxEntrySize: Math.floor(maxBytes / 32),
      sizeCalculation: ({ facts: { size }, realPath }, path) => (
        ENTRY_BYTES + (realPath.length + path.length) * PATH_FACTOR + size * TEXT_FACTOR
      )
    })
  }

  /** Returns the value if the path leads to the same file as before, and the file has not changed. */
  get (path: string): { readonly value: V, readonly realPath: string } | undefined {
    const file = this.#files.get(path)
    if (file === undefined || clock.monotonic() - file.keptAt > MAX_KEPT_MS) return undefined
    try {
      const isSame = this.#realPathOf(file.place) === file.realPlace &&
        isUnchanged(file.facts, lstatSync(file.realPath))
      return isSame ? file : undefined
    } catch {
      return undefined
    }
  }

  /** Keeps the value if the file cannot have changed since its facts were found. Returns whether it does. */
  async add (path: string, { handle, realPath, facts }: OpenedFile, value: V): Promise<boolean> {
    const { dev, ino, mtimeMs, ctimeMs } = facts
    const isLocal = this.#devices.get(dev) ?? await isOnLocalDisk(realPath)
    this.#devices.set(dev, isLocal)
    // Larger numbers of files are not exact.
    if (!isLocal || !Number.isSafeInteger(ino) || !isUnchanged(facts, fstatSync(handle.fd))) return false
    if (clock.now() - Math.max(mtimeMs, ctimeMs) < LEAST_AGE_MS) return false
    const [folder, realFolder] = [dirname(path), dirname(realPath)]
    const isLink = join(realFolder, basename(path)) !== realPath || this.#realPathOf(folder) !== realFolder
    const [place, realPlace] = isLink ? [path, realPath] : [folder, realFolder]
    this.#files.set(path, { place, realPlace, realPath, facts, value, keptAt: clock.monotonic() })
    return true
  }

  /** Returns an empty path for one that leads nowhere. */
  #realPathOf (path: string): string {
    let realPath = this.#realPaths.get(path)
    if (realPath !== undefined) return realPath
    if (this.#realPaths.size === 0) setImmediate(this.#forgetPaths)
    try {
      realPath = realpathSync.native(path)
    } catch {
      realPath = ''
    }
    this.#realPaths.set(path, realPath)
    return realPath
  }
}

async function isOnLocalDisk (path: string): Promise<boolean> {
  return await statfs(path).then(({ type }) => LOCAL.has(type), () => false)
}

function isUnchanged (before: Stats, now: Stats): boolean {
  return now.ino === before.ino && now.ctimeMs === before.ctimeMs && now.mtimeMs === before.mtimeMs &&
    now.size === before.size && now.dev === before.dev
}
