// A record in LMDB, beside its value: its key, and a header of fixed length.

import type { StateKey } from '../../state/state-store.ts'

/** LMDB takes keys of 1,978 bytes. The key of an expiry is its record's key, a number and some separators. */
const MAX_KEY_BYTES = 1_950
export const VERSION_BYTES = 24

/** Kept apart from the value, so that a use does not write the value again. */
export interface Header {
  readonly version: string
  readonly idleMs: number
  readonly endsAt: number
  readonly expiresAt: number
  /**
   * The time under which the expiry is noted. The sweep updates the note, a use does not. Not after
   * `expiresAt`.
   */
  readonly notedAt: number
}

/** An owner contains no `/`, so that no two keys have one id, and the ids of one owner are a range. */
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
 * The header after a use at this time. A use changes nothing once the record has expired, and never shortens
 * it.
 */
export function extended (header: Header, usedAt: number | undefined): Header {
  if (usedAt === undefined || usedAt >= header.expiresAt) return header
  const expiresAt = Math.min(usedAt + header.idleMs, header.endsAt)
  return { ...header, expiresAt: Math.max(header.expiresAt, expiresAt) }
}
