// The table of storages. The scheme of TRIVET_FILES_URL selects a row.

import { folderStorage } from './folder/kind.ts'
import { s3Storage } from './s3/kind.ts'
import type { FileStorage, ReadVariable, StorageKind } from './storage.ts'

const STORAGES: readonly StorageKind[] = [folderStorage, s3Storage]

/** The forms of all URLs in words: completes "TRIVET_FILES_URL must be". */
export const FILES_URL_FORM = STORAGES.map(({ form }) => form).join(' or ')

export function isFilesUrl (url: string): boolean {
  return findKind(url) !== undefined
}

/** Whether replicas on several machines need a shared volume. */
export function isLocalUrl (url: string): boolean {
  return findKind(url)?.isLocal === true
}

/** Rejects if the URL has no known form, or if the storage cannot be used. */
export async function openStorage (url: string, readVariable: ReadVariable): Promise<FileStorage> {
  const kind = findKind(url)
  if (kind === undefined) throw new Error(`TRIVET_FILES_URL must be ${FILES_URL_FORM}`)
  return await kind.open(url, readVariable)
}

function findKind (url: string): StorageKind | undefined {
  const colon = url.indexOf(':')
  const [scheme, location] = [url.slice(0, colon), url.slice(colon + 1)]
  return STORAGES.find((kind) => colon > 0 && kind.scheme === scheme && kind.rest.test(location))
}
