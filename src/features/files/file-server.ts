// Opens links. Unknown, expired and damaged links, and links of others, look the same to the caller.

import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { overloaded } from '../../platform/protocol/errors.ts'
import { StoreUnavailable } from '../../platform/store/records/state-store.ts'
import { acceptedType } from './accepted-types.ts'
import { FilesFull } from './accounts.ts'
import { toFileName } from './file-options.ts'
import type { FileRoom } from './file-room.ts'
import { StorageFailed } from './kept-files.ts'
import type { FileLink, StoredLink, UploadLink } from './links.ts'
import type { ByteRange } from './storage.ts'
import type { UploadTurn } from './upload-records.ts'

/** A file to send. Call `read` or `has`, once: each releases it in the end. */
export interface LinkedFile {
  readonly name: string
  readonly mimeType: string
  readonly size: number
  /** The entity tag with its quotes. It changes with the bytes. */
  readonly etag: string
  /** Resolves to `undefined` if the file is gone. */
  read (range?: ByteRange): Promise<Readable | undefined>
  has (): Promise<boolean>
}

/** An uploaded file. The sender names it and its type. */
export interface SentFile {
  readonly name: string
  readonly mimeType: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A page that takes one file. */
export interface LinkedUpload extends Pick<UploadLink, 'message' | 'accept' | 'maxBytes' | 'account'> {
  isUsed (): Promise<boolean>
  /** Returns the type of the file, and `undefined` if such a file is not accepted. */
  typeOf (file: Pick<SentFile, 'name' | 'mimeType'>): string | undefined
  /**
   * Keeps the file, unless the link is used, or another file is being sent by it. Rejects as `keep` of
   * KeptFiles does: nothing is kept then. Rejects with a StorageFailed if the store does not answer: the file
   * may then have been received.
   */
  receive (file: SentFile): Promise<'received' | 'used' | 'busy'>
}

/** Opens a file of the catalog for a caller with these scopes. */
export type OpenCatalogFile = (uri: string, scopes: readonly string[]) => Promise<LinkedFile | undefined>

export interface FileServer {
  /** @param owner only links of this owner are opened. `undefined`: all links. */
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
    // A hash hides the key from clients.
    etag: `"${hash('sha256', key, 'base64url').slice(0, 22)}"`,
    read: async (range) => await storage.read(key, range).catch(refuse),
    has: async () => await storage.has(key).catch(refuse)
  }
}

function refuse (cause: unknown): never {
  const error = cause instanceof Error ? cause : new Error('the storage failed', { cause })
  throw overloaded('Files are not available at the moment. Try again later.', error)
}

function toUpload ({ files, uploads, now }: FileRoom, link: UploadLink): LinkedUpload {
  const { message, accept, maxBytes, account, ttlMs } = link
  return {
    message,
    accept,
    maxBytes,
    ...account !== undefined && { account },
    isUsed: async () => await uploads.isUsed(link),
    typeOf: (file) => acceptedType(accept, file),
    async receive ({ name, mimeType, bytes }) {
      let turn: UploadTurn | undefined
      try {
        turn = await uploads.begin(link)
        if (turn === undefined) return 'busy'
        const expiresAt = now() + ttlMs
        const file = await files.keep({ owner: link, bytes, maxBytes, expiresAt })
        const upload = { ...file, name: toFileName(name) ?? 'file', mimeType, expiresAt }
        // If this rejects, the record may exist or begin to exist: the file stays until it expires.
        const outcome = await uploads.add(link, upload)
        if (outcome === 'added') return 'received'
        await files.drop(link, upload)
        if (outcome === 'full') throw new FilesFull()
        return 'used'
      } catch (error) {
        throw error instanceof StoreUnavailable ? new StorageFailed(error) : error
      } finally {
        await turn?.end()
      }
    }
  }
}
