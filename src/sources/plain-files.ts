// The plain files under resources/, as resources. Only listed files can be read: a URI is looked up in the
// list and never joined to a path, so no URI can lead out of the folder.

import { realpath } from 'node:fs/promises'
import {
  defineResource, defineResourceTemplate, type OutputContents, type ResourceDefinition,
  type ResourceTemplateDefinition
} from '../authoring/define-resource.ts'
import { BYTES_TYPE, TEXT_TYPE } from '../catalog/media-type.ts'
import { yieldToRequests } from '../modules/yield-to-requests.ts'
import { resourceTooLarge } from '../protocol/errors.ts'
import { findDirectories } from './directories.ts'
import { beginsWithText, FileTooLargeError, isText, readBytes } from './file-contents.ts'
import type { FolderFile } from './folder-files.ts'
import { mediaTypeOfName } from './media-types.ts'

interface PlainFiles {
  readonly resources: readonly PlainResource[]
  /** The folder itself. The template has all other directories, but its variable cannot be empty. */
  readonly folder: ResourceDefinition
  readonly template: ResourceTemplateDefinition
  /** By URI. */
  readonly stamps: ReadonlyMap<string, string>
}

interface PlainResource { readonly definition: ResourceDefinition, readonly file: FolderFile }

interface PlainFilesOptions {
  readonly readTtlMs: number
  /** The maximum bytes that one read of a file or of a directory may return. */
  readonly maxBytes: number
}

interface TypedFile extends FolderFile { readonly mimeType: string }

/** https://modelcontextprotocol.io/specification/2026-07-28/server/resources#common-uri-schemes */
const DIRECTORY_TYPE = 'inode/directory'

/** The most files and directories that one read may return. A file takes about 0.25 ms of CPU time. */
const MAX_ENTRIES = 100

/** @param folder the paths of the files are relative to it. */
export async function createPlainFiles (
  folder: string, listed: readonly FolderFile[], { readTtlMs, maxBytes }: PlainFilesOptions
): Promise<PlainFiles> {
  const location = { folder, root: await realpath(folder).catch(() => folder) }
  const files: TypedFile[] = []
  for (const file of listed) {
    await yieldToRequests()
    files.push({ ...file, mimeType: mediaTypeOfName(file.path) ?? await typeOf(file) })
  }
  const byPath = new Map(files.map((file) => [file.path, file]))
  const directories = findDirectories(files)
  const cache = { ttlMs: readTtlMs, cacheScope: 'public' } as const

  /** Decided once, so that the list and a read have the same type. */
  async function typeOf ({ absolutePath }: FolderFile): Promise<string> {
    // A file that cannot be read is listed. A read of it reports the reason to the log.
    return await beginsWithText(absolutePath, location).catch(() => false) ? TEXT_TYPE : BYTES_TYPE
  }

  async function read (
    { absolutePath, mimeType }: TypedFile, uri: string
  ): Promise<OutputContents | undefined> {
    try {
      const bytes = await readBytes(absolutePath, location, maxBytes)
      if (bytes === undefined) return undefined
      return isText(bytes) ? { uri, mimeType, text: bytes.toString() } : { uri, mimeType, blob: bytes }
    } catch (error) {
      throw error instanceof FileTooLargeError ? resourceTooLarge(uri, error.size, maxBytes) : error
    }
  }

  async function readDirectory (path: string): Promise<OutputContents[] | undefined> {
    const directory = directories.get(path)
    if (directory === undefined) return undefined
    const entries = directory.files.length + directory.directories.length
    if (entries > MAX_ENTRIES) throw resourceTooLarge(toFileUri(path), entries, MAX_ENTRIES, 'entries')
    assertFits(path, directory.files.reduce((sum, { size }) => sum + size, 0))
    const contents: OutputContents[] = directory.directories.map((inner) => {
      return { uri: `${toFileUri(inner)}/`, mimeType: DIRECTORY_TYPE, text: '' }
    })
    // Checked again while reading: files may have grown since they were listed.
    let total = 0
    for (const file of directory.files) {
      const one = await read(file, toFileUri(file.path))
      if (one === undefined) continue
      total += Buffer.byteLength('text' in one ? one.text : one.blob)
      assertFits(path, total)
      contents.push(one)
    }
    return contents.length === 0 ? undefined : contents
  }

  function assertFits (path: string, size: number): void {
    if (size > maxBytes) throw resourceTooLarge(toFileUri(path), size, maxBytes)
  }

  const resources: PlainResource[] = []
  for (const file of files) {
    await yieldToRequests()
    resources.push({ file, definition: defineFile(file) })
  }
  return {
    resources,
    folder: defineResource({
      uri: toFileUri(''),
      name: '/',
      mimeType: DIRECTORY_TYPE,
      cache,
      read: async () => await readDirectory('')
    }),
    template: defineResourceTemplate({
      uriTemplate: 'file:///{+path}',
      name: 'files',
      title: 'Files',
      description: 'A file by its path; a directory reads as the files in it.',
      // After the author's templates: theirs come first where several match a URI equally well.
      order: Number.MAX_SAFE_INTEGER,
      cache,
      complete: { path: toPaths(files, directories.keys()) },
      read: async ({ path }, { uri }) => {
        if (typeof path !== 'string') return undefined
        const file = byPath.get(path)
        return file === undefined ? await readDirectory(path.replace(/(?<=.)\/$/, '')) : await read(file, uri)
      }
    }),
    stamps: new Map(resources.map(({ definition, file }) => [definition.uri, file.stamp]))
  }

  function defineFile (file: TypedFile): ResourceDefinition {
    const { path, mimeType, size } = file
    // Without the time of the last change: each replica has a copy of the file with a time of its own, and
    // their lists must not differ.
    return defineResource({
      uri: toFileUri(path), name: path, mimeType, size, cache, read: async ({ uri }) => await read(file, uri)
    })
  }
}

/** The paths of all files and directories, those of directories with a slash. */
function toPaths (files: readonly FolderFile[], directories: Iterable<string>): string[] {
  const inner = Array.from(directories).filter((path) => path !== '')
  return [...inner.map((path) => `${path}/`), ...files.map(({ path }) => path)].sort()
}

function toFileUri (path: string): string {
  return `file:///${path.split('/').map(encodeURIComponent).join('/')}`
}
