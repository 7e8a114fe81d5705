// Reads a file as resource contents: UTF-8 as text, other bytes as base64.

import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises'
import mime from 'mime'
import type { ResourceContents } from '../protocol/content.ts'
import { isWithin } from './folder-files.ts'

/** The file is larger than the limit. */
export class FileTooLargeError extends Error {
  readonly size: number

  constructor (size: number) {
    super(`the file is ${size} bytes`)
    this.name = 'FileTooLargeError'
    this.size = size
  }
}

export function mimeTypeOf (path: string): string | undefined {
  // The table says that .ts is a video format.
  if (/\.[cm]?ts$/.test(path)) return 'text/typescript'
  return mime.getType(path) ?? undefined
}

interface FileReadOptions {
  /** The folder that must contain the file when it is read. */
  readonly folder: string
  /** The real path of the folder when its files were listed. */
  readonly root: string
  readonly maxBytes: number
}

/** Does not follow a link, and does not wait for the writer of a pipe. */
const READ_REGULAR = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** The error codes of a path without a file. */
const GONE = new Set<unknown>(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'])

/** `undefined` if the file is gone or is now outside the folder. Rejects with a FileTooLargeError. */
export async function readFileContents (
  path: string, uri: string, options: FileReadOptions
): Promise<ResourceContents | undefined> {
  const bytes = await readBytes(path, options)
  if (bytes === undefined) return undefined
  const isText = isUtf8(bytes) && !bytes.includes(0)
  const mimeType = mimeTypeOf(path) ?? (isText ? 'text/plain' : 'application/octet-stream')
  return isText
    ? { uri, mimeType, text: bytes.toString('utf8') }
    : { uri, mimeType, blob: bytes.toString('base64') }
}

async function readBytes (
  path: string, { folder, root, maxBytes }: FileReadOptions
): Promise<Buffer | undefined> {
  // The real path of the folder changes with the link swap of a mounted ConfigMap.
  const isInside = async (real: string) => isWithin(root, real) || isWithin(await realpath(folder), real)
  try {
    // The file may have been replaced by a link since the folder was listed.
    const real = await realpath(path)
    if (!await isInside(real)) return undefined
    const handle = await open(real, READ_REGULAR)
    try {
      const facts = await handle.stat()
      // A folder of the path may have been replaced by a link since its real path was found.
      if (!facts.isFile() || !await isInside(await openedPath(handle, real))) return undefined
      if (facts.size > maxBytes) throw new FileTooLargeError(facts.size)
      return await handle.readFile()
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && GONE.has(error.code)) return undefined
    throw error
  }
}

/** The real path of an open file. */
async function openedPath (handle: FileHandle, path: string): Promise<string> {
  // Linux tells the path of the descriptor, even if other files are at that path by then.
  const told = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined)
  if (told !== undefined) return told
  const [real, opened, found] = [await realpath(path), await handle.stat(), await stat(path)]
  return opened.dev === found.dev && opened.ino === found.ino ? real : ''
}
