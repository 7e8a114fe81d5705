// The links to files and to upload pages: sealed, so that any replica opens them and nobody else can.

import type { Sealer } from '../store/sealing/sealer.ts'
import type { FileOwner } from './accounts.ts'

/** A file that a handler has put. */
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
  /** The scopes of the caller that got the link. */
  readonly scopes: readonly string[]
}

/** A page that takes one file. */
export interface UploadLink extends FileOwner {
  readonly kind: 'upload'
  readonly id: string
  readonly message: string
  readonly accept: readonly string[]
  readonly maxBytes: number
  readonly ttlMs: number
  readonly expiresAt: number
  /** The name of the account that asks, for the user to recognise. Absent for an anonymous caller. */
  readonly account?: string
}

export type FileLink = StoredLink | CatalogLink | UploadLink

export interface Links {
  /** The URL of the folder of all links, without a slash at its end. Throws an Error if it is not known. */
  findUrl (): string
  /** The URL of the link. Throws as `findUrl` does. */
  seal (link: FileLink, expiresAt: number): string
  /** `undefined` for a text that is no link, and for a link that has expired. */
  open (sealed: string): FileLink | undefined
}

/** Has the version of the form: another release may seal another one. */
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
