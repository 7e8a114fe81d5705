// The key of a record in LMDB, and its header of fixed length. The value is stored separately.

import type { StateKey } from '../../records/state-store.ts'

/**
 * LMDB's limit is 1,978 bytes. The key of an expiry is the longest: the record's key, a number and
 * separators.
 */
const MAX_KEY_BYTES = 1_950
export const VERSION_BYTES = 24

/** Separate from the value, so that a use does not write the value again. */
export interface Header {
  readonly version: string
  readonly idleMs: number
  readonly endsAt: number
  readonly expiresAt: number
  /**
   * The time in the record's key in `expiries`. The sweep updates it, a use does not. Never later than
   * `expiresAt`.
   */
  readonly notedAt: number
}

/** An owner contains no `/`, so different keys have different ids, and the ids of one owner are a range. */
export function toId ({ owner, name }: StateKey): string {
  const id = `${owner}/${name}`
  if (Buffer.byteLength(id) > MAX_KEY_BYTES) {
    throw new RangeError(`an owner and a name must not be longer than ${MAX_KEY_BYTES - 1} bytes together`)
  }
  return id
}

/** The owner in an id. */
export function toOwner (id: string): string {
  return id.slice(0, id.indexOf('/'))
}

export function fromNumbers (...numbers: number[]): Buffer {
  const bytes = Buffer.allocUnsafe(numbers.length * 8)
  numbers.forEach((number, index) => bytes.writeDoubleBE(number, index * 8))
  return bytes
}

export function fromHeader ({ version, idleMs, endsAt, expiresAt, notedAt }: Header): Buffer {
  return Buffer.concat([Buffer.from(version, 'latin1'), fromNumbers(idleMs, endsAt, expiresAt, notedAt)])
}

export function toHeader (bytes: Buffer): Header {
  const numberAt = (index: number) => bytes.readDoubleBE(VERSION_BYTES + index * 8)
  return {
    version: bytes.toString('latin1', 0, VERSION_BYTES),
    idleMs: numberAt(0),
    endsAt: numberAt(1),
    expiresAt: numberAt(2),
    notedAt: numberAt(3)
  }
}

/**
 * The header after a use at this time. A use of an expired record has no effect. A use never makes a record
 * expire earlier.
 */
export function extended (header: Header, usedAt: number | undefined): Header {
  if (usedAt === undefined || usedAt >= header.expiresAt) return header
  const expiresAt = Math.min(usedAt + header.idleMs, header.endsAt)
  return { ...header, expiresAt: Math.max(header.expiresAt, expiresAt) }
}
