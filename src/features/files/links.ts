// The links to files and to upload pages. They are sealed: every replica can open them, and nobody else.

import type { Sealer } from '../../platform/store/sealing/sealer.ts'
import type { FileOwner } from './accounts.ts'

/** A file from `ctx.files.put`. */
export interface StoredLink {
  readonly kind: 'stored'
  readonly owner: string
  readonly key: string
  readonly name: string
  readonly mimeType: string
  readonly size: number
}

/** A file of the catalog. */
export interface CatalogLink {
  readonly kind: 'catalog'
  readonly owner: string
  readonly uri: string
  /** The scopes of the caller for whom the link was made. */
  readonly scopes: readonly string[]
}

/** A page that takes one file. */
export interface UploadLink extends FileOwner {
  readonly kind: 'upload'
  readonly id: string
  /** The owner of the record of the link. */
  readonly records?: string
  readonly message: string
  readonly accept: readonly string[]
  readonly maxBytes: number
  readonly ttlMs: number
  readonly expiresAt: number
  /** The name of the caller's account, for the user. Absent for an anonymous caller. */
  readonly account?: string
}

export type FileLink = StoredLink | CatalogLink | UploadLink

export interface Links {
  /** Returns the URL of the folder of all links, without a slash at its end. Throws if it is unknown. */
  findUrl (): string
  /** Returns the URL of the link. Throws as `findUrl` does. */
  seal (link: FileLink, expiresAt: number): string
  /** Returns `undefined` if the text is not a link, and if the link has expired. */
  open (sealed: string): FileLink | undefined
}

/** Has the version of the form: another release may have another form. */
const PURPOSE = 'file link 1'

export function createLinks (sealer: Sealer, findUrl: Links['findUrl']): Links {
  return {
    findUrl,
    seal (link, expiresAt) {
      return `${findUrl()}/${sealer.seal(PURPOSE, '', Buffer.from(JSON.stringify(link)), expiresAt)}`
    },
    open (sealed) {
      const bytes = sealer.open(PURPOSE, '', sealed)
      return bytes === undefined ? undefined : JSON.parse(bytes.toString())
    }
  }
}
