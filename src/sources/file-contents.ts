// One file as resource contents: text where it is text, base64 where it is not.

import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import mime from 'mime'
import type { ResourceContents } from '../protocol/content.ts'
import { isWithin } from './folder-files.ts'

/** A file that is there but larger than may be read. */
export class FileTooLargeError extends Error {
  readonly size: number

  constructor (size: number) {
    super(`the file is ${size} bytes`)
    this.name = 'FileTooLargeError'
    this.size = size
  }
}

export function mimeTypeOf (path: string): string | undefined {
  // Where catalogs are concerned it is no video.
  if (/\.[cm]?ts$/.test(path)) return 'text/typescript'
  return mime.getType(path) ?? undefined
}

interface FileReadOptions {
  /** The folder that the file must still be in when it is read. */
  readonly folder: string
  /** Its real path when it was listed. */
  readonly root: string
  readonly maxBytes: number
}

/** Follows no link any more, and waits for no writer of a pipe. */
const READ_REGULAR = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Errors of a path that leads nowhere. */
const GONE = new Set<unknown>(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'])

/** `undefined` where the file is gone, or no longer where it may be. Throws a FileTooLargeError. */
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
  try {
    // A link may have been put in the file's place since the folder was listed.
    const real = await realpath(path)
    // The folder itself moves with the link swap of a mounted ConfigMap.
    if (!isWithin(root, real) && !isWithin(await realpath(folder), real)) return undefined
    const handle = await open(real, READ_REGULAR)
    try {
      const facts = await handle.stat()
      if (!facts.isFile()) return undefined
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
