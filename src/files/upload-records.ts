// Remembers for each upload link which file came by it. Creating the record is what makes a link one-time.

import type { StateStore } from '../store/records/state-store.ts'
import type { KeptFile } from './kept-files.ts'
import type { UploadLink } from './links.ts'

export interface ReceivedFile extends KeptFile {
  readonly name: string
  readonly mimeType: string
  readonly expiresAt: number
}

export interface UploadRecords {
  find (link: Pick<UploadLink, 'id' | 'owner'>): Promise<ReceivedFile | undefined>
  /** `taken` if a file has come before by the same link. */
  add (link: UploadLink, file: ReceivedFile): Promise<'added' | 'taken' | 'full'>
}

/** Of one owner: each names a file, and one owner has no more files. */
const MAX_RECORDS = 10_000

export function createUploadRecords (store: StateStore, now: () => number): UploadRecords {
  const keyOf = ({ id, owner }: Pick<UploadLink, 'id' | 'owner'>) => ({ owner: `uploads-${owner}`, name: id })
  return {
    async find (link) {
      const record = await store.read(keyOf(link))
      return record === undefined ? undefined : JSON.parse(record.value.bytes.toString())
    },
    async add (link, file) {
      // The link must not work again after its file has expired.
      const endsAt = Math.max(file.expiresAt, link.expiresAt)
      const value = { bytes: Buffer.from(JSON.stringify(file)) }
      const lifetime = { idleMs: Math.max(1, endsAt - now()), endsAt }
      const record = await store.create(keyOf(link), value, lifetime, MAX_RECORDS)
      return typeof record === 'string' ? record : 'added'
    }
  }
}
