// The files of one app: what its documents, styles and modules may name, and how their bytes are read.

import { realpath } from 'node:fs/promises'
import { posix } from 'node:path'
import { BYTES_TYPE, mediaTypeOfName } from '../../../base/media-types.ts'
import { messageOf } from '../../../base/words.ts'
import { DATA_SOURCE, type AppCsp } from '../../../platform/protocol/apps.ts'
import { toBase64 } from '../../../platform/protocol/base64.ts'
import { readBytes } from '../files/file-contents.ts'
import type { FolderFile } from '../files/folder-files.ts'

/** The page of an app. */
export const INDEX = 'index.html'

/** Reports a problem of a file of the app. Its path is relative to the folder of the app. */
export type ReportApp = (path: string, at: PlaceInFile | undefined, rule: string) => void

/** Both from 1. */
export interface PlaceInFile { readonly line: number, readonly column?: number | undefined }

/** What a document may name. Only files that were listed can be read: no path can lead out of the folder. */
export type AppTarget =
  | { readonly kind: 'file', readonly path: string }
  /** Loaded by the browser, from an origin that app.yaml lists. */
  | { readonly kind: 'url', readonly url: string }
  /** Nothing that is loaded, such as `#top`, or something that has its bytes in itself: `data:`. */
  | { readonly kind: 'inner' }

export interface AppFiles {
  /**
   * Throws a SyntaxError that says what is wrong with the target.
   * @param from the file that names it
   * @param domains the list of app.yaml that URLs must be in
   */
  resolve (target: string, from: string, domains?: 'resourceDomains' | 'frameDomains'): AppTarget
  /** Rejects with a SyntaxError if the file cannot be read, or all files together are too large. */
  read (path: string): Promise<Buffer>
  readText (path: string): Promise<string>
  /** Whether hosts load all kinds of files from `data:` URLs. Without it they may load images and media. */
  readonly allowsData: boolean
  /** The bytes of the file in a URL. */
  toDataUrl (path: string): Promise<string>
}

interface AppFilesOptions {
  readonly csp: AppCsp
  /** The most bytes of all files of the app that are used, together. */
  readonly maxBytes: number
}

/** @param listed their paths are relative to the folder of the app. */
export async function openAppFiles (
  folder: string, listed: readonly FolderFile[], { csp, maxBytes }: AppFilesOptions
): Promise<AppFiles> {
  const location = { folder, root: await realpath(folder) }
  const byPath = new Map(listed.map((file) => [file.path, file]))
  const reads = new Map<string, Promise<Buffer>>()
  let total = 0

  function read (path: string): Promise<Buffer> {
    const reading = reads.get(path) ?? readNew(path)
    reads.set(path, reading)
    return reading
  }

  async function readNew (path: string): Promise<Buffer> {
    const file = byPath.get(path)
    // Counted before the first await: several files are read at once.
    total += file?.size ?? 0
    if (file === undefined || total > maxBytes) throw tooLarge(path, maxBytes)
    const bytes = await readBytes(
      file.absolutePath, location, file.size, (size) => new Error(`the file is ${size} bytes`)
    ).catch((error: unknown) => {
      throw new SyntaxError(`${path} cannot be read: ${messageOf(error)}`)
    })
    if (bytes === undefined) {
      throw new SyntaxError(`${path} cannot be read: it is gone, or a link out of the app`)
    }
    return bytes
  }

  return {
    allowsData: csp.resourceDomains?.includes(DATA_SOURCE) === true,
    read,
    readText: async (path) => (await read(path)).toString('utf8').replace(/^\uFEFF/, ''),
    async toDataUrl (path) {
      return `data:${mediaTypeOfName(path) ?? BYTES_TYPE};base64,${toBase64(await read(path))}`
    },
    resolve (target, from, domains = 'resourceDomains') {
      const trimmed = target.trim()
      if (trimmed.startsWith('//')) throw new SyntaxError(`${trimmed} names no scheme: begin it with https:`)
      if (/^[a-z][a-z0-9+.-]*:/i.test(trimmed)) return resolveUrl(trimmed, domains, csp[domains])
      const [named = ''] = trimmed.split(/[?#]/)
      if (named === '') return { kind: 'inner' }
      const path = toPath(named, from)
      if (byPath.has(path)) return { kind: 'file', path }
      throw new SyntaxError(path.startsWith('../')
        ? `${trimmed} leads out of the folder of the app: put the file into it`
        : `${trimmed} is no file of the app: ${path} does not exist`)
    }
  }
}

function resolveUrl (url: string, domains: string, origins: readonly string[] = []): AppTarget {
  if (!/^(?:https?|wss?):/i.test(url)) return { kind: 'inner' }
  if (!URL.canParse(url)) throw new SyntaxError(`${url} is no URL`)
  const location = new URL(url)
  if (isListedOrigin(location, origins)) return { kind: 'url', url }
  throw new SyntaxError(
    `${url} is blocked by hosts: add ${location.origin} to csp.${domains} of app.yaml, ` +
    'or put the file into the app'
  )
}

function toPath (named: string, from: string): string {
  let path: string
  try {
    path = decodeURIComponent(named)
  } catch {
    throw new SyntaxError(`${named} has a malformed percent-encoding`)
  }
  // The folder of the app stands for the root of a site.
  return posix.normalize(path.startsWith('/') ? path.slice(1) : posix.join(posix.dirname(from), path))
}

export function tooLarge (subject: string, maxBytes: number): SyntaxError {
  return new SyntaxError(`${subject} is too large: a screen with all its files may have ${maxBytes} bytes`)
}

/** The message of what reading or resolving has thrown. Throws everything else again. */
export function ruleOfApp (error: unknown): string {
  if (error instanceof SyntaxError) return error.message
  throw error
}

function isListedOrigin (url: URL, origins: readonly string[]): boolean {
  return origins.some((origin) => {
    const { protocol, host } = new URL(origin.replace('*.', ''))
    if (protocol !== url.protocol) return false
    return origin.includes('*.') ? url.host.endsWith(`.${host}`) : url.host === host
  })
}
