// Finds what a link leads to. The caller cannot tell a link that is unknown from one that has expired, is
// damaged, or belongs to someone else.

import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { acceptedType } from './accepted-types.ts'
import { FilesFull } from './accounts.ts'
import { toFileName } from './file-options.ts'
import type { FileRoom } from './file-room.ts'
import type { FileLink, StoredLink, UploadLink } from './links.ts'
import type { ByteRange } from './storage.ts'

/** A file to be sent. Close it unless `read` was called. */
export interface LinkedFile {
  readonly name: string
  readonly mimeType: string
  readonly size: number
  /** With quotes. Changes if the bytes change. */
  readonly etag: string
  /** `undefined` if the file is gone. */
  read (range?: ByteRange): Promise<Readable | undefined>
  has (): Promise<boolean>
  close (): void
}

/** The facts of an uploaded file, as its sender says them. */
export interface SentFile {
  readonly name: string
  readonly mimeType: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A page that takes one file. */
export interface LinkedUpload extends Pick<UploadLink, 'message' | 'accept' | 'maxBytes' | 'account'> {
  isUsed (): Promise<boolean>
  /** The type that the file has. `undefined` if such a file is not accepted. */
  typeOf (file: Pick<SentFile, 'name' | 'mimeType'>): string | undefined
  /**
   * Keeps the file. Resolves to whether it was the first of this link. Rejects as `keep` of KeptFiles does,
   * and with the error of the bytes; nothing is kept then.
   */
  receive (file: SentFile): Promise<boolean>
}

/** Opens a file of the catalog for a caller with these scopes. */
export type OpenCatalogFile = (uri: string, scopes: readonly string[]) => Promise<LinkedFile | undefined>

export interface FileServer {
  /** @param owner `undefined`: whoever has the link. */
  find (
    sealed: string, owner: string | undefined
  ): Promise<{ readonly file: LinkedFile } | { readonly upload: LinkedUpload } | undefined>
}

/** @param openRoom opens the storage, if it is not open yet. */
export function createFileServer (
  links: { open (sealed: string): FileLink | undefined }, openRoom: () => Promise<FileRoom>,
  openCatalogFile: OpenCatalogFile
): FileServer {
  return {
    async find (sealed, owner) {
      const link = links.open(sealed)
      if (link === undefined || (owner !== undefined && owner !== link.owner)) return undefined
      switch (link.kind) {
        case 'stored': return { file: toStoredFile(await openRoom(), link) }
        case 'upload': return { upload: toUpload(await openRoom(), link) }
        case 'catalog': {
          const file = await openCatalogFile(link.uri, link.scopes)
          return file && { file }
        }
      }
    }
  }
}

function toStoredFile ({ storage }: FileRoom, { key, name, mimeType, size }: StoredLink): LinkedFile {
  return {
    name,
    mimeType,
    size,
    // A hash: the key tells nothing to clients that way.
    etag: `"${createHash('sha256').update(key).digest('base64url').slice(0, 22)}"`,
    read: async (range) => await storage.read(key, range),
    has: async () => await storage.has(key),
    close () {}
  }
}

function toUpload ({ kept, uploads, now }: FileRoom, link: UploadLink): LinkedUpload {
  const { message, accept, maxBytes, account, ttlMs } = link
  return {
    message,
    accept,
    maxBytes,
    ...account !== undefined && { account },
    isUsed: async () => await uploads.find(link) !== undefined,
    typeOf: (file) => acceptedType(accept, file),
    async receive ({ name, mimeType, bytes }) {
      const expiresAt = now() + ttlMs
      const file = await kept.keep({ owner: link, bytes, maxBytes, expiresAt })
      const received = { ...file, name: toFileName(name) ?? 'file', mimeType, expiresAt }
      const added = await uploads.add(link, received).catch(async (error: unknown) => {
        await kept.drop(link, received)
        throw error
      })
      if (added === 'added') return true
      await kept.drop(link, received)
      if (added === 'full') throw new FilesFull()
      return false
    }
  }
}
