// The plain files under resources/, as resources. Only listed files can be read: a URI is looked up in the
// list and never joined to a path, so no URI can lead out of the folder.

import {
  defineResource, defineResourceTemplate, type OutputContents, type ResourceDefinition,
  type ResourceTemplateDefinition
} from '../../../platform/author/define-resource.ts'
import type { WhenMissing } from '../../../platform/author/common-options.ts'
import { DIRECTORY_TYPE } from '../../../base/media-types.ts'
import { resourceTooLarge } from '../../../platform/protocol/errors.ts'
import type { CacheHints } from '../../../platform/protocol/primitives.ts'
import type { Located, LocatedResource } from '../../compiled/contents.ts'
import { checkScopes, mayUse } from '../../compiled/scopes/access-rule.ts'
import type { ScopeHierarchy } from '../../compiled/scopes/scope-hierarchy.ts'
import { yieldToRequests } from '../../../base/turns.ts'
import { FILES_FOLDER, type EmbeddableFile } from './embedded-files.ts'
import {
  createFileReader, type FileReader, type FileReaderOptions, type FileResources
} from './file-contents.ts'
import type { FileSettings, FolderSettings } from './file-settings.ts'
import { createFileViews, type FileView } from './file-views.ts'
import { findDirectories, type FolderFile } from './folder-files.ts'
import type { Sidecars } from './sidecars.ts'

interface PlainFilesOptions extends FileReaderOptions { readonly hierarchy: ScopeHierarchy }

interface PlainFile extends FolderFile, Pick<FileSettings, 'scopes'> {
  readonly mimeType: string
  readonly whenMissing: WhenMissing
  readonly settings: FileSettings
}

/** The most files and directories that one read may return. A file takes about 0.25 ms of CPU time. */
const MAX_ENTRIES = 100

/** @param folder the paths of the files are relative to it. */
export async function openPlainFiles (
  folder: string, { files, folder: folderSettings, settingsOf }: Sidecars, options: PlainFilesOptions
): Promise<PlainFiles> {
  const reader = await createFileReader(folder, options)
  const plainFiles: PlainFile[] = []
  for (const file of files) {
    await yieldToRequests()
    const settings = settingsOf(file.path)
    const mimeType = settings.mimeType ?? reader.typeOf(file)
    const { scopes, whenMissing = 'hide' } = settings
    plainFiles.push({ ...file, mimeType, scopes, whenMissing, settings })
  }
  return new PlainFiles(plainFiles, folderSettings, { ...options, reader })
}

interface PlainFilesDependencies extends Pick<PlainFilesOptions, 'maxBytes' | 'hierarchy'> {
  readonly reader: FileReader
}

export class PlainFiles {
  readonly #files: readonly PlainFile[]
  readonly #byPath: ReadonlyMap<string, PlainFile>
  readonly #viewOf: (scopes: ReadonlySet<string>) => FileView<PlainFile>
  readonly #reader: FileReader
  readonly #maxBytes: number
  /** The access to directories, as their definitions have it. */
  readonly #access: Pick<ResourceDefinition, 'scopes' | 'whenMissing' | 'cache'>

  constructor (
    files: readonly PlainFile[], { scopes, whenMissing }: FolderSettings,
    { reader, maxBytes, hierarchy }: PlainFilesDependencies
  ) {
    this.#files = files
    this.#byPath = new Map(files.map((file) => [file.path, file]))
    this.#viewOf = createFileViews(files, hierarchy)
    this.#reader = reader
    this.#maxBytes = maxBytes
    this.#access = {
      scopes,
      ...(scopes.length > 0 && whenMissing !== undefined && { whenMissing }),
      cache: toStrictest(files)
    }
  }

  async define (): Promise<FileResources> {
    const resources: LocatedResource[] = []
    const stamps = new Map<string, string>()
    for (const file of this.#files) {
      await yieldToRequests()
      const definition = this.#define(file)
      const { path, stamp, mimeType } = file
      resources.push({
        definition, bytes: this.#reader.bytesOf(file), file: `${FILES_FOLDER}/${path}`, place: ''
      })
      stamps.set(definition.uri, `${stamp} ${mimeType}`)
    }
    return { resources, stamps }
  }

  #define (file: PlainFile): ResourceDefinition {
    const { path, mimeType, size, settings } = file
    // Without `lastModified`: each replica has a copy of the file with a time of its own, and their lists
    // must not differ. A sidecar can say it.
    return defineResource({
      name: path,
      ...settings,
      uri: toFileUri(path),
      mimeType,
      size,
      read: ({ uri }) => this.#reader.read(file, uri)
    })
  }

  /**
   * Defines the folder itself: the variable of the template cannot be empty. Beside a template of the author
   * that may have their URIs, also defines the directories in it.
   */
  directories (templates: ReadonlyArray<Located<ResourceTemplateDefinition>>): ResourceDefinition[] {
    // The definition has not been checked: its members may have any type.
    const hasFileUris = templates.some(({ definition }) => String(definition.uriTemplate).startsWith('file:'))
    const paths = hasFileUris ? [...findDirectories(this.#files).keys()] : ['']
    return paths.flatMap((path) => {
      const uri = toFileUri(path)
      return (path === '' ? [uri] : [uri, `${uri}/`]).map((spelling) => this.#defineDirectory(path, spelling))
    })
  }

  #defineDirectory (path: string, uri: string): ResourceDefinition {
    return defineResource({
      uri,
      name: `${path}/`,
      mimeType: DIRECTORY_TYPE,
      ...this.#access,
      read: async ({ principal }) => await this.#readDirectory(path, this.#viewOf(principal.scopes))
    })
  }

  template (): ResourceTemplateDefinition {
    return defineResourceTemplate({
      uriTemplate: 'file:///{+path}',
      name: 'files',
      title: 'Files',
      description: 'A file by its path; a directory reads as the files in it.',
      // Templates of the author come before this one where several match a URI equally well.
      order: Number.MAX_SAFE_INTEGER,
      ...this.#access,
      complete: {
        path: (_typed, { principal }) => this.#viewOf(principal.scopes).paths
      },
      read: async ({ path }, { uri, principal }) => {
        if (typeof path !== 'string') return undefined
        const view = this.#viewOf(principal.scopes)
        const file = this.#byPath.get(path)
        if (file === undefined) return await this.#readDirectory(path.replace(/(?<=.)\/$/, ''), view)
        // Safe twice: the URI of a file that the caller may not read finds the resource of that file.
        return mayUse(file, view.isGranted) ? await this.#reader.read(file, uri) : undefined
      }
    })
  }

  /** Returns the file of this path, for a prompt that embeds it. */
  embeddable (path: string): EmbeddableFile | undefined {
    const file = this.#byPath.get(path)
    if (file === undefined) return undefined
    const { mimeType, size, scopes, settings: { annotations } } = file
    const uri = toFileUri(path)
    return { uri, mimeType, size, scopes, annotations, read: async () => await this.#reader.read(file, uri) }
  }

  async #readDirectory (
    path: string, { directories, isGranted }: FileView<PlainFile>
  ): Promise<OutputContents[] | undefined> {
    const directory = directories.get(path)
    if (directory === undefined) return undefined
    const readable = directory.files.filter((file) => mayUse(file, isGranted))
    const entries = readable.length + directory.directories.length
    // The caller sees files here, but may read none of them.
    if (entries === 0) checkScopes(directory.files, isGranted)
    if (entries > MAX_ENTRIES) throw resourceTooLarge(toFileUri(path), entries, MAX_ENTRIES, 'entries')
    this.#assertFits(path, readable.reduce((sum, { size }) => sum + size, 0))
    const contents: OutputContents[] = directory.directories.map((inner) => {
      return { uri: `${toFileUri(inner)}/`, mimeType: DIRECTORY_TYPE, text: '' }
    })
    // Checked again while reading: files may have grown since they were listed.
    let total = 0
    for (const file of readable) {
      const content = await this.#reader.read(file, toFileUri(file.path))
      if (content === undefined) continue
      total += Buffer.byteLength('text' in content ? content.text : content.blob)
      this.#assertFits(path, total)
      contents.push(content)
    }
    return contents.length === 0 ? undefined : contents
  }

  #assertFits (path: string, size: number): void {
    if (size > this.#maxBytes) throw resourceTooLarge(toFileUri(path), size, this.#maxBytes)
  }
}

/** A result of the folder or of a directory has the contents of several files: the strictest hints hold. */
function toStrictest (files: readonly PlainFile[]): CacheHints {
  const all = files.map(({ settings }) => settings.cache)
  return {
    ttlMs: all.reduce((least, { ttlMs }) => Math.min(least, ttlMs), Infinity),
    cacheScope: all.every(({ cacheScope }) => cacheScope === 'public') ? 'public' : 'private'
  }
}

function toFileUri (path: string): string {
  return `file:///${path.split('/').map(encodeURIComponent).join('/')}`
}
