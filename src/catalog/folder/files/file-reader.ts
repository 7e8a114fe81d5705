// Reads the files of a folder as the contents of resources.

import { realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import type { OutputContents } from '../../../author/define-resource.ts'
import { resourceTooLarge } from '../../../protocol/errors.ts'
import { BYTES_TYPE, TEXT_TYPE } from '../../compiled/results/media-type.ts'
import type { FileBytes } from '../../compiled/results/opened-bytes.ts'
import { beginsWithText, FileTooLargeError, isText, openBytes, readBytes } from './file-contents.ts'
import type { FolderFile } from './folder-files.ts'
import { mediaTypeOfName } from './media-types.ts'

interface TypedFile extends Pick<FolderFile, 'absolutePath'> { readonly mimeType: string }

interface FileReader {
  /** By its name, else by its content. Decided once, so that the list and a read have the same type. */
  typeOf (file: FolderFile): Promise<string>
  /** `undefined` if the file is gone, or is now outside the folder. */
  read (file: TypedFile, uri: string): Promise<OutputContents | undefined>
  /** What a link to the file needs. */
  bytesOf (file: FolderFile): FileBytes
}

/** @param maxBytes the most that one read of a file may return. */
export async function createFileReader (folder: string, maxBytes: number): Promise<FileReader> {
  const location = { folder, root: await realpath(folder).catch(() => folder) }
  return {
    async typeOf ({ path, absolutePath }) {
      const named = mediaTypeOfName(path)
      if (named !== undefined) return named
      // A file that cannot be read is listed. A read of it reports the reason to the log.
      return await beginsWithText(absolutePath, location).catch(() => false) ? TEXT_TYPE : BYTES_TYPE
    },
    async read ({ absolutePath, mimeType }, uri) {
      try {
        const bytes = await readBytes(absolutePath, location, maxBytes)
        if (bytes === undefined) return undefined
        return isText(bytes) ? { uri, mimeType, text: bytes.toString() } : { uri, mimeType, blob: bytes }
      } catch (error) {
        throw error instanceof FileTooLargeError ? resourceTooLarge(uri, error.size, maxBytes) : error
      }
    },
    bytesOf ({ path, size, absolutePath }) {
      return { size, name: basename(path), open: async () => await openBytes(absolutePath, location) }
    }
  }
}
