// The interface of a storage: it keeps the bytes of files under keys, and does not know whose they are.

import type { Readable } from 'node:stream'
import { random } from '../base/time.ts'

/** Bytes from `start` to `end`, both included. */
export interface ByteRange { readonly start: number, readonly end: number }

/** Every method rejects if the storage fails. The cause is for the log. */
export interface FileStorage {
  /**
   * Keeps the bytes. Readers find all of them, or nothing before the promise resolves. Rejects with the error
   * of the source if that throws; nothing is kept then.
   */
  write (key: string, source: AsyncIterable<Uint8Array>): Promise<void>
  /** A stream of the file, or of a part of it. `undefined` if there is no such file. */
  read (key: string, range?: ByteRange): Promise<Readable | undefined>
  has (key: string): Promise<boolean>
  /** Does nothing if there is no such file. */
  delete (key: string): Promise<void>
  /**
   * Deletes the files whose keys expired before `now`, and what writers left behind that ended more than an
   * hour before. Resolves to the number of expired files.
   */
  sweep (now: number): Promise<number>
  /** Releases all resources. Idempotent. */
  close (): Promise<void>
}

/** What is written and not complete is deleted after this time, in milliseconds: its writer is gone. */
export const ABANDONED_MS = 3_600_000

/** Enough for the year 5138. */
const EXPIRY_DIGITS = 9

/** A new key. It begins with the time of expiry: keys sort by it, and a sweep needs nothing else. */
export function createStorageKey (expiresAt: number): string {
  return `${toDigits(expiresAt)}-${random.name(16)}`
}

/** Milliseconds since 1970. `undefined` for a name that is no key. */
export function expiryOf (key: string): number | undefined {
  return /^[0-9a-z]{9}-[\w-]{22}$/.test(key) ? Number.parseInt(key.slice(0, EXPIRY_DIGITS), 36) : undefined
}

function toDigits (milliseconds: number): string {
  return Math.ceil(milliseconds).toString(36).padStart(EXPIRY_DIGITS, '0')
}
