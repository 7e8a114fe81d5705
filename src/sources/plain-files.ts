// The plain files under resources/, as resources. Only listed files can be read: a URI is looked up in the
// list and never joined to a path, so no URI can lead out of the folder.

import { realpath } from 'node:fs/promises'
import {
  defineResource, defineResourceTemplate, type ResourceDefinition, type ResourceTemplateDefinition
} from '../authoring/define-resource.ts'
import { yieldToRequests } from '../modules/yield-to-requests.ts'
import type { ResourceContents } from '../protocol/content.ts'
import { resourceTooLarge } from '../protocol/errors.ts'
import { FileTooLargeError, mimeTypeOf, readFileContents } from './file-contents.ts'
import type { FolderFile } from './folder-files.ts'

interface PlainFiles {
  readonly resources: readonly PlainResource[]
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

/** @param folder the paths of the files are relative to it. */
export async function createPlainFiles (
  folder: string, files: readonly FolderFile[], { readTtlMs, maxBytes }: PlainFilesOptions
): Promise<PlainFiles> {
  const root = await realpath(folder).catch(() => folder)
  const byPath = new Map(files.map((file) => [file.path, file]))
  const cache = { ttlMs: readTtlMs, cacheScope: 'public' } as const

  async function read (file: FolderFile, uri: string): Promise<ResourceContents | undefined> {
    try {
      return await readFileContents(file.absolutePath, uri, { folder, root, maxBytes })
    } catch (error) {
      throw error instanceof FileTooLargeError ? resourceTooLarge(uri, error.size, maxBytes) : error
    }
  }

  async function readDirectory (path: string): Promise<ResourceContents[] | undefined> {
    const within = files.filter(
      (file) => file.path.startsWith(`${path}/`) && !file.path.slice(path.length + 1).includes('/')
    )
    assertFits(path, within.reduce((sum, { size }) => sum + size, 0))
    const contents: ResourceContents[] = []
    // Checked again while reading: files may have grown since they were listed.
    let total = 0
    for (const file of within) {
      const one = await read(file, toFileUri(file.path))
      if (one === undefined) continue
      total += 'text' in one ? Buffer.byteLength(one.text) : Buffer.byteLength(one.blob, 'base64')
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
    template: defineResourceTemplate({
      uriTemplate: 'file:///{+path}',
      name: 'files',
      title: 'Files',
      description: 'A file by its path; a directory reads as the files in it.',
      cache,
      complete: { path: files.map(({ path }) => path) },
      read: async ({ path }, { uri }) => {
        if (typeof path !== 'string') return undefined
        const file = byPath.get(path)
        return file === undefined ? await readDirectory(path.replace(/\/$/, '')) : await read(file, uri)
      }
    }),
    stamps: new Map(resources.map(({ definition, file }) => [definition.uri, file.stamp]))
  }

  function defineFile (file: FolderFile): ResourceDefinition {
    const mimeType = mimeTypeOf(file.path)
    return defineResource({
      uri: toFileUri(file.path),
      name: file.path,
      ...(mimeType === undefined ? {} : { mimeType }),
      size: file.size,
      annotations: { lastModified: new Date(file.modifiedMs).toISOString() },
      cache,
      read: async ({ uri }) => await read(file, uri)
    })
  }
}

function toFileUri (path: string): string {
  return `file:///${path.split('/').map(encodeURIComponent).join('/')}`
}
