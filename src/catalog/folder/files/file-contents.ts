// Reads the files of a folder: their bytes, and the contents of resources. Tells text from other bytes.

import { isUtf8 } from 'node:buffer'
import { closeSync, constants, createReadStream, openSync, readSync, realpathSync } from 'node:fs'
import { open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'
import type { OpenedFile, UnchangedFiles } from '../../../base/unchanged-files.ts'
import { codeOf } from '../../../base/words.ts'
import type { OutputContents } from '../../../platform/author/define-resource.ts'
import { BYTES_TYPE, mediaTypeOfName, TEXT_TYPE } from '../../../base/media-types.ts'
import { resourceTooLarge } from '../../../platform/protocol/errors.ts'
import type { FileBytes, LocatedResource, OpenedBytes } from '../../compiled/contents.ts'
import { freezeContents } from '../../compiled/results/unchanged-reads.ts'
import { isWithin, type FolderFile } from './folder-files.ts'

/** Resources that are files. */
export interface FileResources {
  readonly resources: readonly LocatedResource[]
  /** A text that changes whenever what a read returns changes, by URI. */
  readonly stamps: ReadonlyMap<string, string>
}

interface FileLocation {
  /** The folder that must contain the file when it is read. */
  readonly folder: string
  /** The real path of the folder when its files were listed. */
  readonly root: string
}

/** Does not follow a link, and does not wait for the writer of a pipe. */
const READ_REGULAR = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** The error codes of a path without a file. */
const GONE = new Set<unknown>(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'])

/**
 * `undefined` if the file is gone or is now outside the folder.
 * @param tooLarge makes the error of a file with more than `maxBytes`.
 */
export async function readBytes (
  path: string, location: FileLocation, maxBytes: number, tooLarge: (size: number) => Error
): Promise<Buffer | undefined> {
  return await openFile(path, location, async ({ handle, facts: { size } }) => {
    if (size > maxBytes) throw tooLarge(size)
    return await handle.readFile()
  })
}

/** `undefined` if the file is gone or is now outside the folder. */
async function openBytes (path: string, location: FileLocation): Promise<OpenedBytes | undefined> {
  const file = await openRegular(path, location)
  if (file === undefined) return undefined
  const { handle, facts: { size, mtimeMs } } = file
  return {
    size,
    modifiedMs: mtimeMs,
    read: (range) => createReadStream('', { fd: handle, ...range }),
    close () { handle.close().catch(() => {}) }
  }
}

/** UTF-8 without NUL. */
function isText (bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0)
}

const SAMPLE_BYTES = 4096
const sampleBuffer = Buffer.alloc(SAMPLE_BYTES)
/** The last character of a sample may lack up to this many of its bytes. */
const MAX_MISSING_BYTES = 3

/**
 * Whether the first bytes of the file are text. `false` if it cannot be read. Synchronous: it takes 20 µs of
 * CPU, and the asynchronous functions 150 µs (Node 20).
 */
function beginsWithText (path: string, root: string): boolean {
  let descriptor: number | undefined
  try {
    const real = realpathSync.native(path)
    if (!isWithin(root, real)) return false
    descriptor = openSync(real, READ_REGULAR)
    const sample = sampleBuffer.subarray(0, readSync(descriptor, sampleBuffer, 0, SAMPLE_BYTES, 0))
    const cuts = sample.length < SAMPLE_BYTES ? 0 : MAX_MISSING_BYTES
    return Array.from({ length: cuts + 1 }, (_, cut) => sample.length - cut).some(
      (end) => isText(sample.subarray(0, end))
    )
  } catch {
    return false
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

async function openFile<T> (
  path: string, location: FileLocation, read: (file: OpenedFile) => Promise<T>
): Promise<T | undefined> {
  const file = await openRegular(path, location)
  if (file === undefined) return undefined
  try {
    return await read(file)
  } finally {
    await file.handle.close()
  }
}

/** The caller closes the handle. */
async function openRegular (
  path: string, { folder, root }: FileLocation
): Promise<OpenedFile | undefined> {
  // The real path of the folder changes with the link swap of a mounted ConfigMap.
  const isInside = async (real: string) => isWithin(root, real) || isWithin(await realpath(folder), real)
  try {
    // The file may have been replaced by a link since the folder was listed.
    const real = await realpath(path)
    if (!await isInside(real)) return undefined
    const handle = await open(real, READ_REGULAR)
    let isInFolder = false
    try {
      const facts = await handle.stat()
      if (!facts.isFile()) return undefined
      // A folder of the path may have been replaced by a link since its real path was found.
      const realPath = await openedPath(handle, real)
      isInFolder = await isInside(realPath)
      return isInFolder ? { handle, facts, realPath } : undefined
    } finally {
      if (!isInFolder) await handle.close()
    }
  } catch (error) {
    if (GONE.has(codeOf(error))) return undefined
    throw error
  }
}

/** The real path of an open file. */
async function openedPath (handle: FileHandle, path: string): Promise<string> {
  // Linux tells the path of the descriptor, even if other files are at that path by then.
  const target = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined)
  if (target !== undefined) return target
  const [real, openFacts, facts] = [await realpath(path), await handle.stat(), await stat(path)]
  return openFacts.dev === facts.dev && openFacts.ino === facts.ino ? real : ''
}

interface TypedFile extends Pick<FolderFile, 'absolutePath'> { readonly mimeType: string }

export interface FileReader {
  /** The name decides, then the content. Called once for a file: the list and a read have the same type. */
  typeOf (file: FolderFile): string
  /** Contents that must not be changed. `undefined` if the file is gone, or is now outside the folder. */
  read (file: TypedFile, uri: string): OutputContents | Promise<OutputContents | undefined>
  /** What a link to the file needs. */
  bytesOf (file: FolderFile): FileBytes
}

export interface FileReaderOptions {
  /** The maximum bytes that one read of a file or of a directory may return. */
  readonly maxBytes: number
  readonly unchangedFiles: UnchangedFiles<OutputContents>
}

export async function createFileReader (
  folder: string, { maxBytes, unchangedFiles }: FileReaderOptions
): Promise<FileReader> {
  const root = await realpath(folder).catch(() => folder)
  const location = { folder, root }

  async function readNow (path: string, mimeType: string, uri: string): Promise<OutputContents | undefined> {
    return await openFile(path, location, async (file) => {
      const { handle, facts: { size } } = file
      if (size > maxBytes) throw resourceTooLarge(uri, size, maxBytes)
      const bytes = await handle.readFile()
      const contents = { uri, mimeType, ...isText(bytes) ? { text: bytes.toString() } : { blob: bytes } }
      return await unchangedFiles.add(path, file, contents) ? freezeContents(contents) : contents
    })
  }

  return {
    typeOf ({ path, absolutePath }) {
      const type = mediaTypeOfName(path)
      if (type !== undefined) return type
      // A file that cannot be read is listed. A read of it reports the reason to the log.
      return beginsWithText(absolutePath, root) ? TEXT_TYPE : BYTES_TYPE
    },
    read ({ absolutePath, mimeType }, uri) {
      const { realPath = '', value: contents } = unchangedFiles.get(absolutePath) ?? {}
      const isSame = contents?.uri === uri && contents.mimeType === mimeType && isWithin(root, realPath)
      return isSame ? contents : readNow(absolutePath, mimeType, uri)
    },
    bytesOf ({ path, size, absolutePath }) {
      return { size, name: basename(path), open: async () => await openBytes(absolutePath, location) }
    }
  }
}
