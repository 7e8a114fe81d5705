// The interface of a storage. It keeps the bytes of files under keys, and does not know their owners.

import type { Readable } from 'node:stream'
import { random } from '../../base/time.ts'
import type { ArrivingBody } from '../../platform/limits/arriving-bytes.ts'

/** Bytes from `start` to `end`, both included. */
export interface ByteRange { readonly start: number, readonly end: number }

/**
 * Begins to count what a writer has in memory of a file.
 *
 * @param onRefused is called at most once, when the memory is needed for others. The write must end with the
 * error.
 */
export type OpenPart = (onRefused: (refusal: Error) => void) => ArrivingBody

/** Every method rejects if the storage fails. The cause is for the log. */
export interface FileStorage {
  /**
   * Keeps the bytes. Readers find all of them, or nothing before the promise resolves. Rejects with the error
   * of the source if that throws; nothing is kept then.
   *
   * @param openPart for a storage that has parts of the file in memory.
   */
  write (key: string, source: AsyncIterable<Uint8Array>, openPart?: OpenPart): Promise<void>
  /** Resolves to a stream of the file or of a part, and to `undefined` if there is no such file. */
  read (key: string, range?: ByteRange): Promise<Readable | undefined>
  has (key: string): Promise<boolean>
  /** Does nothing if there is no such file. */
  delete (key: string): Promise<void>
  /**
   * Deletes the files whose keys expired before `now`, and incomplete files that are older than
   * `ABANDONED_MS`. Resolves to the number of expired files.
   *
   * @param mayGoOn whether to delete one more. True by default.
   */
  sweep (now: number, mayGoOn?: () => boolean): Promise<number>
  /** Releases all resources. Idempotent. */
  close (): Promise<void>
}

/** Reads a variable, or the file that the variable with `_FILE` at its end names. Rejects if it cannot. */
export type ReadVariable = (name: string) => Promise<string | undefined>

/** A row of the table of storages. */
export interface StorageKind {
  /** The scheme of its URLs, without the colon. */
  readonly scheme: string
  /** The form of its URLs, in words: completes "TRIVET_FILES_URL must be". */
  readonly form: string
  /** Matches the text after the scheme and its colon. `open` may still refuse the URL. */
  readonly rest: RegExp
  /** Whether only processes of one machine share it, unless the folder is on a shared volume. */
  readonly isLocal: boolean
  /** Imports the driver when it is called. Rejects if the storage cannot be used: the message says why. */
  readonly open: (url: string, readVariable: ReadVariable) => Promise<FileStorage>
}

/** The age at which an incomplete file is deleted, in milliseconds: its writer is gone. */
export const ABANDONED_MS = 3_600_000

/** Enough for the year 5138. */
const EXPIRY_DIGITS = 9

/** Creates a key. It begins with the expiry: keys sort by it, and a sweep needs nothing else. */
export function createStorageKey (expiresAt: number): string {
  return `${toDigits(expiresAt)}-${random.name(16)}`
}

/** Returns milliseconds since the epoch, and `undefined` if the name is not a key. */
export function expiryOf (key: string): number | undefined {
  return /^[0-9a-z]{9}-[\w-]{22}$/.test(key) ? Number.parseInt(key.slice(0, EXPIRY_DIGITS), 36) : undefined
}

function toDigits (milliseconds: number): string {
  return Math.ceil(milliseconds).toString(36).padStart(EXPIRY_DIGITS, '0')
}
